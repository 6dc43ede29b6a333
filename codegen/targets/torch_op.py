"""One op for PyTorch: a function, and two classes with its rules.

`torch.compile` does not trace an `autograd.Function` that has a `jvp`, and forward mode needs one.
So the rules of reverse mode stand in one class, and a subclass adds that of forward mode.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Iterable, Iterator

from ..diagnostics import Diagnostic, SpecError
from ..emit.branches import with_safe_branches
from ..emit.repeated import Gradients, without_repeated
from ..emit.saves import name_attributes
from ..emit.tangents import returning
from ..ir import nodes as ir
from ..ir.walk import free_names
from ..render.resolve import Kind, kinds_of_params
from ..spec.model import Formula, NotImplementedYet, OpSpec, Param
from ..spec.shared_locals import leading, shared_with
from . import names
from .checks import checks, is_elementwise, reduced
from .kept import Kept, with_kept
from .naming import MARK, function_name
from .refusals import has_its_own, has_kernel
from .renderer import EmittedModule, FrameworkRenderer
from .results import Results
from .rules import gradients, tangents
from .torch_view import TorchOp


def torch_op(op: OpSpec, module: EmittedModule, doc: str) -> TorchOp:
    """One op as code. Raises SpecError for what PyTorch lacks."""
    return _Builder(op, module).view(doc)


class _Builder:
    def __init__(self, op: OpSpec, module: EmittedModule) -> None:
        self.op = op
        self.module = module
        self.spelling = names.spelling_of(op, module)
        self.kinds = kinds_of_params(op.signature)
        self.params = self._ordered()
        tensors = {p.name for p in op.signature.tensor_params}
        own = {thing.name for thing in op.signature.named}
        self.attributes: dict[str, tuple[str, str]] = {}
        self.gradients = [
            (of, self._with_attributes(formula, tensors, own))
            for of, formula in gradients(op, module.framework)
        ]
        self.tangents = {
            output: [self._with_attributes(formula, tensors, own) for formula in terms]
            for output, terms in tangents(op, module.resolver, module.framework).items()
        }
        self.kinds |= {"grad": "tensor", "grads": "tensors"}
        self.kinds |= {f"grad_{o.name}": "tensor" for o in op.signature.outputs}
        self.kinds |= {f"{p.name}_t": self.kinds[p.name] for p in op.signature.tensor_params}
        shapes = {"shape": "ints", "ndim": "int", "dtype": "dtype", "meta": "tensors"}
        self.kinds |= {
            name: shapes[attribute] if attribute == "meta" or self.kinds[of] != "tensors" else "any"
            for name, (of, attribute) in self.attributes.items()
        }
        self.is_elementwise = not op.complex and is_elementwise(op, module)
        self.reduced = reduced(op, module)
        for name in self.reduced:
            self.attributes[f"{name}_shape"] = (name, "shape")
        self.parts: set[str] = set()
        """The names for what gradients would compute more than once."""
        self.shared_kinds: dict[str, Kind] = {}
        """The kinds of locals that several gradients begin with."""
        self.has_rules = bool(op.recorded_params) and op.composite is None
        self.more = self._intermediates()
        """Values that are kept besides arguments and results."""

    def _ordered(self) -> list[Param]:
        """The arguments as the classes take them: the tensors of a list come last."""
        given = self.op.signature.params
        return sorted(given, key=lambda p: p.type.is_tensor_list)

    def _with_attributes(self, formula: Formula, tensors: set[str], own: set[str]) -> Formula:
        """A rule that reads shapes and dtypes by name where it does not read the tensor."""
        block, found = name_attributes(formula.block, tensors, own)
        if "strides" in {attribute for _, attribute in found.values()}:
            message = f"`.strides` has no equivalent in {self.module.framework.title}"
            here = self.module.place or formula.spans[0]
            raise SpecError([Diagnostic("GS087", here, message)])
        self.attributes |= found
        return dataclasses.replace(formula, block=block)

    def _intermediates(self) -> Kept | None:
        op = self.op
        lists = [p.type for p in self.params if p.type.is_tensor_list]
        lists += [output.type for output in op.signature.outputs if output.type.is_list]
        is_called = has_kernel(op) or self._kernel or op.custom_op
        if is_called or lists or not self.has_rules or has_its_own(op, self.module.framework):
            return None
        once = tuple(self.module.framework.fused_once) if self.is_elementwise else ()
        more = with_kept(op, self.gradients, self.kinds, self.module.resolver, self._free, once)
        self.kinds |= dict.fromkeys(more.names if more else (), "tensor")
        return more

    def _free(self, word: str) -> str:
        """Choose a name of our own for a value."""
        name = first_free(word, {*self.kinds, *self.spelling})
        self.spelling[name] = self.module.naming.inside(name, self.spelling.values())
        return name

    # ---- all parts

    def view(self, doc: str) -> TorchOp:
        op, framework = self.op, self.module.framework
        setup, extra = self._setups()
        return TorchOp(
            name=self.module.naming.function(op),
            public_name=function_name(op),
            signature=names.signature(op, self.module),
            public_arguments=self._public_arguments(),
            checked_parameters=", ".join(
                f"{self.spelling[p.name]}: Any" for p in op.signature.params
            ),
            returns=names.returns(op, framework),
            doc=doc,
            checks=tuple(checks(op, self.module, self.spelling)),
            plain=() if self.has_rules else tuple(self._plain()),
            class_name=self._class,
            run=self._run(),
            arguments=", ".join(
                "*" * p.type.is_tensor_list + self.spelling[p.name] for p in self.params
            ),
            forward_parameters=self._parameters(self.spelling[p.name] for p in self.params),
            forward=tuple(self._forward()) if self.has_rules else (),
            setup=setup,
            setup_both=extra,
            backward_parameters=", ".join(f"{word}: Any" for word in self._grads()),
            backward=tuple(self._backward()) if self.has_rules else (),
            keeping_forward=tuple(self._keeping_forward()),
            keeping_backward=tuple(self._keeping_backward()),
            has_lists=any(p.type.is_list and not p.type.is_tensor_list for p in self.params),
            jvp_parameters=self._parameters(self._tangent_parameters()),
            jvp=tuple(self._jvp()) if self.has_rules else (),
            aliases=tuple(map(self.module.naming.alias, op.aliases)),
            custom=schema(op) if op.custom_op else "",
            registered=function_name(op) + MARK * (function_name(op) in framework.context),
            compute=tuple(self._compute()) if op.custom_op else (),
            handed=", ".join(self.spelling[p.name] for p in self.params),
            kernel_import=self.module.naming.kernel_import(self._kernel),
        )

    @property
    def _class(self) -> str:
        return self.module.naming.class_name(self.op)

    def _run(self) -> str:
        name = self._class
        if self.op.custom_op:
            return f"run_whole({self.module.naming.function(self.op)}__op, {name}_Formula, {name}"
        has_list = any(p.type.is_tensor_list for p in self.params)
        return f"{'run_list' if has_list else 'run'}({name}_Reverse, {name}"

    def _public_arguments(self) -> str:
        if not names.is_renamed(self.op, self.spelling):
            return ""
        return ", ".join(names.public(p, self.module) for p in self.op.signature.params)

    def _parameters(self, words: Iterable[str]) -> str:
        stars = ("*" if p.type.is_tensor_list else "" for p in self.params)
        return ", ".join(f"{star}{word}: Any" for star, word in zip(stars, words, strict=True))

    def _renderer(self, formula: Formula, spelling: dict[str, str]) -> FrameworkRenderer:
        return FrameworkRenderer(
            self.module,
            formula,
            self.kinds | self.shared_kinds,
            spelling,
            is_elementwise=self.is_elementwise,
        )

    def _plain(self) -> Iterator[str]:
        """The body of a function that has no rules: those of what it calls will do."""
        definition = self.op.forward or self.op.composite
        assert definition is not None
        if self.op.composite is None:
            for param in self.op.signature.tensor_params:
                word = self.spelling[param.name]
                present = f" if {word} is not None else None" * param.type.is_optional
                yield f"{word} = {word}.detach(){present}"
        if has_kernel(self.op):
            yield f"return {self._renderer(definition, self.spelling).itself(self.op)}"
            return
        formula = with_safe_branches(definition, self.kinds, (), self.module.resolver)
        yield from self._renderer(formula, self.spelling).statements(formula.block, "return {}")

    def _forward(self) -> Iterator[str]:
        assert self.op.forward is not None
        if self._kernel and not self.op.custom_op:
            yield f"return {self._call_of_kernel()}"
            return
        if has_kernel(self.op):
            yield f"return {self._of_kernel(self.op.forward)}"
            return
        try:
            yield from self._definition(self.op.forward, "return {}")
        except SpecError:  # what a formula says for arrays, PyTorch may have by the op's name
            if not has_its_own(self.op, self.module.framework):
                raise
            yield f"return {self._of_kernel(self.op.forward)}"

    def _definition(self, forward: Formula, result: str) -> list[str]:
        results = Results(self.op, forward, self.module.resolver.table)
        formula = returning(forward, results.own)
        return self._renderer(formula, self.spelling).statements(formula.block, result)

    @property
    def _kernel(self) -> str:
        """The function of a module that computes the op, as the entry names it."""
        kernel = self.op.target_kernel("torch")
        return kernel.function if kernel else ""

    def _call_of_kernel(self) -> str:
        words = ", ".join(self.spelling[p.name] for p in self.op.signature.params)
        return f"{self.module.naming.kernel(self._kernel)}({words})"

    def _compute(self) -> Iterator[str]:
        """The body of the function that PyTorch calls for the whole op."""
        if self._kernel:
            yield f"return {self._call_of_kernel()}"
        else:
            words = ", ".join(self.spelling[p.name] for p in self.params)
            yield f"return {self._class}_Reverse.definition({words})"

    def _of_kernel(self, forward: Formula) -> str:
        """PyTorch's own function, of which views are copied: it keeps no rule for these."""
        call = self._renderer(forward, self.spelling).itself(self.op)
        outputs = self.op.signature.outputs
        if self.op.signature.view_of is None:
            return f"tuple({call})" if len(outputs) > 1 or outputs[0].type.is_list else call
        is_list = outputs[0].type.is_list
        return f"tuple(each.clone() for each in {call})" if is_list else f"{call}.clone()"

    # ---- what is kept

    def _read(self, formulas: Iterable[Formula]) -> set[str]:
        return set().union(*(free_names(formula.block) for formula in formulas), set())

    @property
    def _read_in_reverse(self) -> set[str]:
        read = self._read(formula for _, formula in self.gradients)
        return read | {f"{name}_shape" for name in self.reduced}

    def _setups(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The lines that keep what reverse mode reads, and what both modes read if that is more."""
        reverse = self._read_in_reverse
        forward = self._read(f for terms in self.tangents.values() for f in terms)
        kept = self._tensors(reverse)
        self.kept, self.kept_for_both = (
            kept,
            [*kept, *(name for name in self._tensors(forward) if name not in kept)],
        )
        both = tuple(self._setup(reverse | forward, self.kept_for_both, ("backward", "forward")))
        setup = tuple(self._setup(reverse, self.kept, ("backward",)))
        return setup, () if setup == both else both

    def _tensors(self, read: set[str]) -> list[str]:
        """The arguments and results among the names that are read, as they are kept."""
        found = [p.name for p in self.params if p.type.base == "Tensor" and p.name in read]
        return found + [o.name for o in self.op.signature.outputs if o.name in read]

    def _values(self, read: set[str]) -> Iterator[tuple[str, str]]:
        """Each plain value and shape that is read: its name, and the code for it."""
        for param in self.op.signature.params:
            if param.type.base != "Tensor" and param.name in read:
                yield param.name, self.spelling[param.name]
        for name, (of, attribute) in sorted(self.attributes.items()):
            if name in read:
                tensor = self.spelling[of]
                is_optional = next(p for p in self.params if p.name == of).type.is_optional
                absent = f"None if {tensor} is None else " * is_optional
                is_meta = attribute == "meta"
                yield name, f"meta_of({tensor})" if is_meta else f"{absent}{tensor}.{attribute}"

    def _setup(self, read: set[str], kept: list[str], modes: tuple[str, ...]) -> Iterator[str]:
        sources = {of for name, (of, _) in self.attributes.items() if name in read}
        sources |= {name for name, _ in self._values(read)} | set(kept)
        inputs = [
            ("*" if p.type.is_tensor_list else "")
            + (self.spelling[p.name] if p.name in sources else "_")
            for p in self.params
        ]
        if any(name.strip("*") != "_" for name in inputs):
            yield f"{', '.join(inputs)}{',' if len(inputs) == 1 else ''} = inputs"
        yield from self._keep(read, kept, modes)

    def _keep(self, read: set[str], kept: list[str], modes: tuple[str, ...]) -> Iterator[str]:
        """The lines that put what is kept on the context, where arguments have their names."""
        outputs = self.op.signature.outputs
        spelling = self.spelling | ({outputs[0].name: "output"} if len(outputs) == 1 else {})
        flags = {o.name for o in self.op.differentiable_outputs}
        constant = [o.name for o in outputs if o.name not in flags]
        if len(outputs) > 1 and set(constant) | (set(kept) & {o.name for o in outputs}):
            wanted = {*constant, *kept}
            words = [self.spelling[o.name] if o.name in wanted else "_" for o in outputs]
            yield f"{', '.join(words)} = output"
        if constant:
            yield f"ctx.mark_non_differentiable({', '.join(spelling[name] for name in constant)})"
        for name, code in self._values(read):
            yield f"{self._attribute(name)} = {code}"
        for mode in modes if kept else ():
            lists = {p.name for p in self.params if p.type.is_tensor_list}
            words = [("*" if n in lists else "") + spelling[n] for n in kept]
            yield f"ctx.save_for_{mode}({', '.join(words)})"

    def _attribute(self, name: str) -> str:
        """The attribute of the context that keeps a plain value; PyTorch has some of its own."""
        word = self.spelling[name]
        is_taken = word in self.module.framework.context or word.startswith("_")
        return f"ctx.{word}{MARK * is_taken}"

    def _in_rule(self, read: set[str]) -> dict[str, str]:
        """The names in a rule: plain values are read from the context."""
        kept = {name: self._attribute(name) for name, _ in self._values(read)}
        return self.spelling | kept

    def _unpacked(self, kept: list[str], among: list[str], read: set[str], source: str) -> str:
        """The line that gets kept tensors back, of which `kept` are read."""
        lists = {p.name for p in self.params if p.type.is_tensor_list}
        words = [
            ("*" if name in lists else "") + (self.spelling[name] if name in read else "_")
            for name in kept
        ]
        more = len(among) > len(kept)
        if not any(word.strip("*") != "_" for word in words):
            return ""
        if more:
            words.append("*_")
        if len(words) == 1:
            return f"({words[0]},) = {source}"
        return f"{', '.join(words)} = {source}"

    # ---- reverse mode

    def _grads(self) -> list[str]:
        outputs = self.op.signature.outputs
        if outputs[0].type.is_list:
            return [f"*{self.spelling['grads']}"]
        if len(outputs) == 1:
            return [self.spelling["grad"]]
        read = self._read(formula for _, formula in self.gradients)
        several = len(self.op.differentiable_outputs) > 1
        words = []
        for output in outputs:
            name = f"grad_{output.name}"
            if not several and output in self.op.differentiable_outputs:
                name = "grad" if "grad" in read else name
            words.append(self.spelling[name])
        return words

    def _backward(self) -> Iterator[str]:
        yield from self._without_rule()
        read = self._read(formula for _, formula in self.gradients)
        among = [*self.kept_for_both, *(self.more.names if self.more else ())]
        if line := self._unpacked(self.kept, among, read, "ctx.saved_tensors"):
            yield line
        safe = self._safe_gradients()
        if [formula.block for _, formula in safe] != [f.block for _, f in self.gradients]:
            yield "if not is_grad_enabled():  # not differentiated again"
            plain = self._made_once(self.gradients)
            yield from ("    " + line for line in self._backward_by(plain))
        yield from self._backward_by(self._made_once(safe))

    def _safe_gradients(self) -> Gradients:
        """The gradients as they can be differentiated again."""
        grads = {"grad", *(f"grad_{output.name}" for output in self.op.signature.outputs)}
        return [
            (of, with_safe_branches(formula, self.kinds, grads, self.module.resolver))
            for of, formula in self.gradients
        ]

    def _made_once(self, gradients: Gradients) -> Gradients:
        """The gradients, with names for what they would compute more than once."""
        known = {word for name, word in self.spelling.items() if name not in self.parts}
        taken = {*self.kinds, *known, *(set(self.spelling) - self.parts)}

        def free(word: str) -> str:
            name = first_free(word, taken)
            taken.add(name)
            self.parts.add(name)
            self.spelling[name] = self.module.naming.inside(name, known)
            return name

        def is_array(part: ir.Expr) -> bool:
            return self.module.resolver.kind(part, self.kinds) == "tensor"

        return without_repeated(gradients, is_array, free)

    def _backward_by(self, gradients: Gradients) -> Iterator[str]:
        shared: set[ir.Assign] = set()
        self.shared_kinds = {}
        wanted = [name for of, _ in gradients for name in of]
        if len(wanted) == 1 and not any(p.type.is_list for p in self.op.signature.tensor_params):
            ((_, formula),) = gradients
            yield from self._gradient(formula, f"return {self._answer(wanted[0])}")
            return
        grads = {name: self.spelling[f"grad by {name}"] for name in wanted}
        if grads:
            yield f"{' = '.join(grads.values())} = None"
        yield from self._shared(gradients, shared)
        for of, formula in gradients:
            targets = ", ".join(grads[name] for name in of)
            yield f"if {self._any_needed(of)}:"
            rest = _without(formula, shared)
            yield from ("    " + x for x in self._gradient(rest, f"{targets} = {{}}"))
            for name in of:
                if name in self.reduced:
                    target = grads[name]
                    yield f"    {target} = {self._reduced(name).format(target)}"
        words = []
        for param in self.params:
            if param.type.is_tensor_list:
                of_list = grads.get(param.name)
                absent = f"(None,) * (len(ctx.needs_input_grad) - {len(self.params) - 1})"
                words.append(f"*({of_list} or {absent})" if of_list else f"*{absent}")
            else:
                words.append(grads.get(param.name, "None"))
        yield f"return {', '.join(words)}"

    def _shared(self, gradients: Gradients, shared: set[ir.Assign]) -> Iterator[str]:
        """Assignments that several gradients begin with, made before any of them."""
        made: dict[ir.Assign, dict[str, None]] = {}
        for of, formula in gradients:
            for assignment in leading(formula.block):
                before = shared_with(gradients, of, assignment)
                if before:
                    made.setdefault(assignment, {}).update(dict.fromkeys((*before, *of)))
        first = [a for _, formula in gradients for a in leading(formula.block)]
        for assignment in dict.fromkeys(a for a in first if a in made):
            formula = next(f for _, f in gradients if assignment in leading(f.block))
            block = ir.Block((assignment,), span=formula.block.span)
            wanted = tuple(made[assignment])
            lines = list(self._gradient(dataclasses.replace(formula, block=block), ""))
            self._note_shared(assignment)
            if set(wanted) >= {name for of, _ in gradients for name in of}:
                yield from lines
            else:
                yield f"if {self._any_needed(wanted)}:"
                yield from ("    " + line for line in lines)
            shared.add(assignment)

    def _note_shared(self, made: ir.Assign) -> None:
        """Learn of what kind a shared local is: what reads it is rendered by itself."""
        kinds = self.kinds | self.shared_kinds
        found = self.module.resolver.kinds(made.value, len(made.targets), kinds)
        self.shared_kinds |= dict(zip(made.targets, found, strict=True))

    def _any_needed(self, names_of: Iterable[str]) -> str:
        return " or ".join(self._needed(name) for name in names_of)

    def _is_list(self, name: str) -> bool:
        return any(p.name == name and p.type.is_tensor_list for p in self.params)

    def _answer(self, wanted: str) -> str:
        words = [self._reduced(p.name) if p.name == wanted else "None" for p in self.params]
        return ", ".join(words)

    def _needed(self, name: str) -> str:
        position = next(i for i, p in enumerate(self.params) if p.name == name)
        if self._is_list(name):
            return f"any(ctx.needs_input_grad[{position}:])"
        return f"ctx.needs_input_grad[{position}]"

    def _gradient(self, formula: Formula, result: str) -> Iterator[str]:
        read = free_names(formula.block)
        renderer = self._renderer(formula, self._in_rule(read))
        yield from renderer.statements(formula.block, result)

    def _reduced(self, name: str) -> str:
        """The form in which a gradient has the shape of its argument, if formulas need not care."""
        if name not in self.reduced:
            return "{}"
        return "({})" + f".sum_to_size({self._attribute(f'{name}_shape')})"

    def _without_rule(self) -> Iterator[str]:
        """Raise where a gradient is needed that the table has no formula for."""
        for param in self.params:
            rule = self.op.rule(param.name)
            if isinstance(rule, NotImplementedYet):
                text = f"{self.op.signature.name}: no derivative by {param.public}: {rule.reason}"
                yield f"if {self._needed(param.name)}:"
                yield f"    raise NotImplementedError({text!r})"

    # ---- reverse mode that is not differentiated again, and keeps more

    def _keeping_forward(self) -> Iterator[str]:
        if self.more is None:
            return
        yield from self._definition(self.more.forward, "output = {}")
        yield from self._keep(self._read_in_reverse, [*self.kept, *self.more.names], ("backward",))
        yield "return output"

    def _keeping_backward(self) -> Iterator[str]:
        if self.more is None:
            return
        gradients = self.more.gradients
        read = self._read(formula for _, formula in gradients)
        kept = [*self.kept, *self.more.names]
        if line := self._unpacked(kept, kept, read, "ctx.saved_tensors"):
            yield line
        yield from self._backward_by(self._made_once(gradients))

    # ---- forward mode

    def _tangent_parameters(self) -> Iterator[str]:
        for param in self.params:
            is_tensor = param.type.base == "Tensor"
            yield self.spelling[f"{param.name}_t" if is_tensor else f"no tangent of {param.name}"]

    def _jvp(self) -> Iterator[str]:
        read = self._read(f for terms in self.tangents.values() for f in terms)
        rules = dict(self.op.jvps)
        for rule in rules.values():
            if isinstance(rule, NotImplementedYet):
                text = f"{self.op.signature.name}: no forward mode: {rule.reason}"
                yield f"raise NotImplementedError({text!r})"
                return
        if line := self._unpacked(self.kept_for_both, self.kept_for_both, read, "primals(ctx)"):
            yield line
        for param in self.params:
            name = self.spelling.get(f"{param.name}_t", "")
            if param.type.is_optional and f"{param.name}_t" in read:
                yield f"{name} = 0 if {name} is None else {name}"
        yield "with _set_fwd_grad_enabled(True):"
        yield from ("    " + line for line in self._tangents(read, set(rules)))

    def _tangents(self, read: set[str], rules: set[str]) -> Iterator[str]:
        outputs = self.op.signature.outputs
        spelling = self._in_rule(read)
        tangents = {f"{p.name}_t" for p in self.op.signature.tensor_params}
        answers = []
        for output in outputs:
            terms = self.tangents.get(output.name, []) if output.name in rules else []
            if not terms:
                answers.append("None")
                continue
            whole = len(outputs) == 1 and len(terms) == 1
            target = self.spelling[f"{output.name}_t"]
            for number, term in enumerate(terms):
                formula = with_safe_branches(term, self.kinds, tangents, self.module.resolver)
                start = "return" if whole else f"{target} ="
                result = f"{start} {{}}" if not number else f"{target} = {target} + {{}}"
                yield from self._renderer(formula, spelling).statements(formula.block, result)
            if whole:
                return
            answers.append(target)
        yield f"return {', '.join(answers)}"


def first_free(word: str, taken: Collection[str]) -> str:
    """A word, or the first with a number behind it that is not taken."""
    words = (word if number == 1 else f"{word}{number}" for number in itertools.count(1))
    return next(each for each in words if each not in taken)


def _without(formula: Formula, shared: Collection[ir.Assign]) -> Formula:
    rest = tuple(s for s in formula.block.statements if s not in shared)
    block = ir.Block(rest, span=formula.block.span)
    return dataclasses.replace(formula, block=block)


def schema(op: OpSpec) -> str:
    """The signature of an op as `torch.library` reads it; all arguments go by their place."""
    types = {"ScalarType": "ScalarType", "str": "str"}
    words = []
    for param in op.signature.params:
        type_ = param.type
        base = types.get(type_.base, type_.base)
        text = f"{base}[]" if type_.is_list else base
        words.append(f"{text}{'?' if type_.is_optional else ''} {param.public}")
    outputs = ["Tensor"] * len(op.signature.outputs)
    returns = outputs[0] if len(outputs) == 1 else f"({', '.join(outputs)})"
    return f"({', '.join(words)}) -> {returns}"
