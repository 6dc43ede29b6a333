"""The profiler, and how gradients flow."""

import gzip
import json
import sys

import numpy as np
import pytest

import gradspec as gs
from gradspec.autograd import profiler


def leaf(*shape: int) -> gs.Tensor:
    return gs.ones(*shape, requires_grad=True)


def by_name(profile, **options):
    return {average.key: average for average in profile.key_averages(**options)}


def test_every_op_and_node_is_counted():
    x = leaf(3)
    with profiler.profile() as profile:
        y = gs.exp(x * 2) * x
        y.sum().backward()
    counts = {name: average.count for name, average in by_name(profile).items()}
    assert counts == {
        "aten::mul": 2,
        "aten::exp": 1,
        "aten::sum": 1,
        "SumBackward0": 1,
        "MulBackward0": 2,
        "ExpBackward0": 1,
        "torch::autograd::AccumulateGrad": 1,
    }
    assert sys.getprofile() is None


def test_own_time_leaves_out_what_is_inside():
    with profiler.profile() as profile, profiler.record_function("outer"):
        for _ in range(20):
            leaf(100).sin()
    found = by_name(profile)
    outer, inner = found["outer"], found["aten::sin"]
    assert inner.count == 20
    # Sums of microseconds, in floats.
    inside = outer.cpu_time_total - outer.self_cpu_time_total
    assert inside == pytest.approx(inner.cpu_time_total)
    assert inner.cpu_time == pytest.approx(inner.cpu_time_total / 20)


def test_shapes_tell_calls_apart():
    with profiler.profile(record_shapes=True) as profile:
        for size in (2, 3, 3):
            leaf(size).sin()
    averages = profile.key_averages(group_by_input_shape=True)
    assert {a.input_shapes: a.count for a in averages} == {((2,),): 1, ((3,),): 2}
    assert "[[3]]" in averages.table()
    assert len(profile.key_averages()) == 1


def test_the_table_is_sorted_and_cut():
    with profiler.profile() as profile:
        for _ in range(3):
            leaf(4).sin()
        leaf(4).cos()
    lines = profile.key_averages().table(sort_by="count", row_limit=1).splitlines()
    assert lines[1].split()[0] == "Name"
    assert lines[3].split()[0] == "aten::sin"
    assert len(lines) == 6
    assert "cos" in str(profile)


def test_a_chrome_trace(tmp_path):
    with profiler.profile() as profile:
        (leaf(2) * 2).sum().backward()
    path = tmp_path / "trace.json"
    profile.export_chrome_trace(path)
    events = json.loads(path.read_text())["traceEvents"]
    assert [event["name"] for event in events][:2] == ["aten::mul", "aten::sum"]
    assert all(event["ph"] == "X" and event["dur"] >= 0 for event in events)
    assert [e["ts"] for e in events] == sorted(e["ts"] for e in events)


def test_an_exception_ends_the_events_it_leaves():
    with profiler.profile() as profile:
        with pytest.raises(RuntimeError):
            gs.ones(2) + gs.ones(3)
        leaf(1).sin()
    assert {name: a.count for name, a in by_name(profile).items()} == {
        "aten::add": 1,
        "aten::sin": 1,
    }


def test_a_profiler_that_is_off_records_nothing():
    with profiler.profile(enabled=False) as profile:
        leaf(1).sin()
    assert profile.events == []
    with profiler.record_function("nobody listens"):
        assert leaf(1).sin().requires_grad


def test_vanishing_and_exploding_gradients_are_flagged():
    x = gs.tensor([1.0], dtype=gs.float64, requires_grad=True)
    small = x * 1e-5 * 1e-5
    large = x * 1e6
    with gs.autograd.gradient_flow(small, large, vanishing=1e-4) as flow:
        (small + large).backward()
    assert [(record.name, record.flag) for record in flow.records] == [
        ("MulBackward0", ""),
        ("MulBackward0", ""),
        ("MulBackward0", "vanishing"),
        ("torch::autograd::AccumulateGrad", "exploding"),
    ]
    assert len(flow.flagged) == 2
    norms = [record.norm for record in flow.records]
    np.testing.assert_allclose(norms, [1, 1, 1e-5, 1e6], rtol=1e-9)


def test_a_gradient_that_is_not_finite():
    x = gs.tensor([0.0], requires_grad=True)
    with np.errstate(all="ignore"):
        y = gs.sqrt(x * 1)
        with gs.autograd.gradient_flow(y) as flow:
            y.backward()
    assert [record.flag for record in flow.records] == ["", "not finite", "not finite"]
    assert "SqrtBackward0" in str(flow)


def test_calls_in_the_order_of_their_starts():
    with profiler.profile() as profile:
        with profiler.record_function("outer"):
            y = gs.ones(3) * 2
            with profiler.record_function("inner"):
                y = y - 1
        gs.exp(y)
    wanted = ["outer", "aten::mul", "inner", "aten::sub", "aten::exp"]
    assert [e.name for e in profile.function_events if e.name in wanted] == wanted
    assert {event.count for event in profile.function_events} == {1}


def test_a_schedule_records_the_steps_it_names():
    x = leaf(2)
    kept = []
    with gs.profiler.profile(
        schedule=gs.profiler.schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=lambda profile: kept.append(
            (profile.step_num, [event.name for event in profile.events()])
        ),
    ) as profile:
        for _ in range(10):
            x.sin()
            profile.step()
    two_steps = ["ProfilerStep*", "aten::sin"] * 2
    assert kept == [(4, two_steps), (8, two_steps)]
    assert {a.key: a.count for a in profile.key_averages()} == {"ProfilerStep*": 2, "aten::sin": 2}


def test_the_actions_of_a_schedule():
    of = gs.profiler.schedule(wait=1, warmup=1, active=2, repeat=1, skip_first=2)
    names = ["NONE"] * 3 + ["WARMUP", "RECORD", "RECORD_AND_SAVE"] + ["NONE"] * 2
    assert [of(step).name for step in range(8)] == names
    at_once = gs.profiler.schedule(wait=2, warmup=0, active=1, skip_first_wait=1)
    assert at_once(0) is gs.profiler.ProfilerAction.RECORD_AND_SAVE
    with pytest.raises(ValueError, match="active"):
        gs.profiler.schedule(wait=0, warmup=0, active=0)


def test_a_profile_without_schedule_and_its_traces(tmp_path):
    write = gs.profiler.tensorboard_trace_handler(str(tmp_path), "worker", use_gzip=True)
    with gs.profiler.profile(on_trace_ready=write):
        leaf(2).sin()
    (trace,) = tmp_path.iterdir()
    assert trace.name.startswith("worker.")
    assert trace.name.endswith(".pt.trace.json.gz")
    events = json.loads(gzip.decompress(trace.read_bytes()))["traceEvents"]
    assert [event["name"] for event in events] == ["aten::sin"]


def test_nothing_to_read_before_a_step_was_recorded():
    with gs.profiler.profile(schedule=lambda step: gs.profiler.ProfilerAction.NONE) as profile:
        leaf(2).sin()
    with pytest.raises(RuntimeError, match="no step has been recorded"):
        profile.key_averages()


def test_what_is_not_measured_warns():
    with pytest.warns(UserWarning, match="with_flops"):
        gs.autograd.profiler.profile(with_flops=True)
    activities = gs.profiler.ProfilerActivity
    with pytest.warns(UserWarning, match="CUDA"):
        gs.profiler.profile(activities=[activities.CPU, activities.CUDA])


def test_the_title_of_a_table():
    with profiler.profile() as profile:
        leaf(2).sin()
    assert profile.table(header="training", row_limit=-1).splitlines()[0] == "training"
