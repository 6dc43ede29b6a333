/* What Python calls to run a program: it checks the arrays, allocates results, and runs the parts.

   A program's values lie in slots, which are pointers: slot 0 is the arena, the following ones are
   inputs, constants, results, and what Python calls return. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#define NPY_NO_DEPRECATED_API NPY_1_7_API_VERSION
#include <numpy/arrayobject.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_DIMS 64 /* as NumPy has it */

/* ---- BLAS: while a program with small products runs, it starts no threads. */

static struct {
    pthread_mutex_t lock;
    int users, before;  /* programs that run, and the number of threads without them */
    int (*get)(void);
    void (*set)(int);
} blas = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void narrow_blas(void) {
    if (!blas.set) return;
    pthread_mutex_lock(&blas.lock);
    if (!blas.users++) {
        blas.before = blas.get();
        blas.set(1);
    }
    pthread_mutex_unlock(&blas.lock);
}

static void widen_blas(void) {
    if (!blas.set) return;
    pthread_mutex_lock(&blas.lock);
    if (!--blas.users) blas.set(blas.before);
    pthread_mutex_unlock(&blas.lock);
}

static PyObject *set_blas(PyObject *Py_UNUSED(self), PyObject *args) {
    unsigned long long get, set;
    if (!PyArg_ParseTuple(args, "KK", &get, &set)) return NULL;
    blas.get = (int (*)(void))(uintptr_t)get;
    blas.set = (void (*)(int))(uintptr_t)set;
    Py_RETURN_NONE;
}

/* ---- threads: a loop is cut into parts, which its caller and those threads that are awake take one
   after the other. The others do not wait for a thread that has not begun. */

#define MAX_THREADS 64
#define PARTS 2 /* for each thread */
#define STACK (1 << 21) /* bytes of a thread's; some systems give little more than a program's arrays take */

/* How often a thread looks for more before it sleeps, as waking it takes longer than most loops:
   one to three hundred microseconds, so that it lasts from a product to the next. */
#define LOOKS 5000

#if defined(__x86_64__) || defined(__i386__)
#define RELAX() __builtin_ia32_pause()
#elif defined(__aarch64__)
#define RELAX() __asm__ __volatile__("yield")
#else
#define RELAX() ((void)0)
#endif

typedef void (*Worker)(char *const *, long, long);

typedef struct {
    Worker work;
    char *const *values;
    long length, part;
} Loop;

static struct {
    pthread_mutex_t owner;  /* held by the caller that uses the threads */
    pthread_mutex_t lock;   /* of all that follows but `next` */
    pthread_cond_t begin, end;
    int wanted, started, running;
    int is_open;            /* whether threads may begin to take parts */
    unsigned long turn;
    Loop loop;
    long next;              /* the first element that no thread has taken */
} pool = {.owner = PTHREAD_MUTEX_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER,
          .begin = PTHREAD_COND_INITIALIZER, .end = PTHREAD_COND_INITIALIZER, .wanted = 1};

static void run_parts(Loop loop) {
    for (;;) {
        long from = __atomic_fetch_add(&pool.next, loop.part, __ATOMIC_RELAXED), to = from + loop.part;
        if (from >= loop.length) return;
        loop.work(loop.values, from, to < loop.length ? to : loop.length);
    }
}

static void *thread_main(void *Py_UNUSED(given)) {
    unsigned long seen = 0;  /* threads start before the first turn */
    for (;;) {
        for (int i = 0; i < LOOKS && __atomic_load_n(&pool.turn, __ATOMIC_RELAXED) == seen; i++) RELAX();
        pthread_mutex_lock(&pool.lock);
        while (pool.turn == seen) pthread_cond_wait(&pool.begin, &pool.lock);
        seen = pool.turn;
        if (pool.is_open && pool.running < pool.wanted - 1) {
            __atomic_add_fetch(&pool.running, 1, __ATOMIC_RELAXED);
            Loop loop = pool.loop;
            pthread_mutex_unlock(&pool.lock);
            run_parts(loop);
            pthread_mutex_lock(&pool.lock);
            if (!__atomic_sub_fetch(&pool.running, 1, __ATOMIC_RELAXED)) pthread_cond_signal(&pool.end);
        }
        pthread_mutex_unlock(&pool.lock);
    }
    return NULL;
}

/* A child process has none of the threads. */
static void forget_threads(void) {
    pthread_mutex_init(&pool.owner, NULL);
    pthread_mutex_init(&pool.lock, NULL);
    pthread_cond_init(&pool.begin, NULL);
    pthread_cond_init(&pool.end, NULL);
    pool.started = pool.running = pool.is_open = 0;
    pool.turn = 0;
    pthread_mutex_init(&blas.lock, NULL);
    if (blas.users) blas.set(blas.before);
    blas.users = 0;
}

static void start_threads(void) {
    pthread_attr_t options;
    pthread_attr_init(&options);
    pthread_attr_setstacksize(&options, STACK);
    while (!pool.turn && pool.started < pool.wanted - 1) {
        pthread_t thread;
        if (pthread_create(&thread, &options, thread_main, NULL)) break;
        pthread_detach(thread);
        pool.started++;
    }
    pthread_attr_destroy(&options);
}

/* Runs `work` on 0 to `length`, cut at multiples of `step`. */
static void share(Worker work, char *const *values, long length, long step) {
    if (pool.wanted < 2 || pthread_mutex_trylock(&pool.owner)) {
        work(values, 0, length);
        return;
    }
    pthread_mutex_lock(&pool.lock);
    start_threads();
    long count = PARTS * (pool.started + 1 < pool.wanted ? pool.started + 1 : pool.wanted);
    long steps = (length + step - 1) / step;
    Loop loop = {work, values, length, (steps + count - 1) / count * step};
    pool.loop = loop;
    pool.next = 0;
    pool.is_open = 1;
    __atomic_add_fetch(&pool.turn, 1, __ATOMIC_RELAXED);
    pthread_cond_broadcast(&pool.begin);
    pthread_mutex_unlock(&pool.lock);
    run_parts(loop);
    pthread_mutex_lock(&pool.lock);
    pool.is_open = 0;
    pthread_mutex_unlock(&pool.lock);
    for (int i = 0; i < LOOKS && __atomic_load_n(&pool.running, __ATOMIC_RELAXED); i++) RELAX();
    pthread_mutex_lock(&pool.lock);
    while (pool.running) pthread_cond_wait(&pool.end, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    pthread_mutex_unlock(&pool.owner);
}

static PyObject *set_threads(PyObject *Py_UNUSED(self), PyObject *given) {
    long count = PyLong_AsLong(given);
    if (count == -1 && PyErr_Occurred()) return NULL;
    pool.wanted = count < 1 ? 1 : count > MAX_THREADS ? MAX_THREADS : (int)count;
    Py_RETURN_NONE;
}

static PyObject *share_address(PyObject *Py_UNUSED(self), PyObject *Py_UNUSED(given)) {
    return PyLong_FromVoidPtr((void *)share);
}

static PyMethodDef methods[] = {
    {"set_threads", set_threads, METH_O, "Set how many threads share a loop; no more are started later."},
    {"set_blas", set_blas, METH_VARARGS, "Set the functions that get and set the threads of BLAS."},
    {"share_address", share_address, METH_NOARGS, "The address of the function that shares loops."},
    {NULL, NULL, 0, NULL},
};

/* ---- programs */

typedef struct {
    Py_ssize_t slot;    /* of its memory */
    npy_intp offset;    /* bytes from there to the first element */
    npy_intp before;    /* bytes of fresh memory before the first element */
    npy_intp nbytes;    /* of fresh memory that is no plain array; 0 otherwise */
    PyArray_Descr *descr;
    int nd;
    int is_whole;       /* whether it is the object in the slot itself */
    npy_intp shape[MAX_DIMS];
    npy_intp strides[MAX_DIMS];
} Layout;

typedef struct {
    const char *(*run)(char *const *);  /* returns what is wrong, or NULL */
    PyObject *call;     /* instead of `run` */
    Py_ssize_t nins, nouts;
    Layout *ins, *outs;
} Stage;

typedef struct {
    char *memory;
    size_t size;
} Arena;

typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    PyObject *keep;     /* constants, and the loaded program */
    Py_ssize_t nslots, nins, nfresh, nouts, nstages;
    Layout *ins, *fresh, *outs;
    Stage *stages;
    char **constants;   /* for each slot, the data of a constant, or NULL */
    size_t arena_size;
    int lets_run;       /* whether other threads may run meanwhile */
    int narrows_blas;   /* whether BLAS must start no threads meanwhile */
    PyObject *__weakrefs;
} Entry;

static int read_shape(PyObject *given, npy_intp *found, int nd) {
    for (int i = 0; i < nd; i++) {
        found[i] = PyLong_AsSsize_t(PyTuple_GET_ITEM(given, i));
        if (found[i] == -1 && PyErr_Occurred()) return -1;
    }
    return 0;
}

/* Reads (slot, offset, before, nbytes, is_whole, dtype, shape, strides). */
static int read_layout(PyObject *given, Layout *found) {
    PyObject *shape, *strides, *dtype;
    if (!PyArg_ParseTuple(given, "nnnniOO!O!", &found->slot, &found->offset, &found->before,
                          &found->nbytes, &found->is_whole, &dtype, &PyTuple_Type, &shape,
                          &PyTuple_Type, &strides))
        return -1;
    if (!PyArray_DescrCheck(dtype) || PyTuple_GET_SIZE(shape) > MAX_DIMS ||
        PyTuple_GET_SIZE(shape) != PyTuple_GET_SIZE(strides)) {
        PyErr_SetString(PyExc_ValueError, "gs.compile: a program with an array of unknown layout");
        return -1;
    }
    found->descr = (PyArray_Descr *)dtype;
    Py_INCREF(dtype);
    found->nd = (int)PyTuple_GET_SIZE(shape);
    return read_shape(shape, found->shape, found->nd) || read_shape(strides, found->strides, found->nd);
}

static Layout *read_layouts(PyObject *given, Py_ssize_t *count) {
    *count = PyTuple_GET_SIZE(given);
    Layout *found = PyMem_Calloc(*count + 1, sizeof(Layout));
    if (!found) return (Layout *)PyErr_NoMemory();
    for (Py_ssize_t i = 0; i < *count; i++)
        if (read_layout(PyTuple_GET_ITEM(given, i), found + i)) return NULL;
    return found;
}

static void free_layouts(Layout *layouts, Py_ssize_t count) {
    for (Py_ssize_t i = 0; layouts && i < count; i++) Py_XDECREF(layouts[i].descr);
    PyMem_Free(layouts);
}

static int refuse(Py_ssize_t nr, const Layout *wanted, PyObject *given) {
    PyErr_Format(PyExc_ValueError,
                 "gs.compile: argument %zd of a program has another dtype, shape, layout or alignment "
                 "than the array that it was captured with (%R with %d dimensions): %R",
                 nr, (PyObject *)wanted->descr, wanted->nd, (PyObject *)Py_TYPE(given));
    return -1;
}

static int check(Py_ssize_t nr, const Layout *wanted, PyObject *given) {
    if (!PyArray_Check(given)) return refuse(nr, wanted, given);
    PyArrayObject *array = (PyArrayObject *)given;
    if (PyArray_NDIM(array) != wanted->nd) return refuse(nr, wanted, given);
    if (PyArray_DESCR(array) != wanted->descr && !PyArray_EquivTypes(PyArray_DESCR(array), wanted->descr))
        return refuse(nr, wanted, given);
    const npy_intp *shape = PyArray_DIMS(array), *strides = PyArray_STRIDES(array);
    for (int i = 0; i < wanted->nd; i++)
        if (shape[i] != wanted->shape[i] || (strides[i] != wanted->strides[i] && shape[i] > 1))
            return refuse(nr, wanted, given);
    if (!PyArray_ISALIGNED(array)) return refuse(nr, wanted, given);
    return 0;
}

static PyObject *array_on(const Layout *layout, char *data, PyObject *base) {
    Py_INCREF(layout->descr);
    PyObject *made = PyArray_NewFromDescr(&PyArray_Type, layout->descr, layout->nd, layout->shape,
                                          layout->strides, data, NPY_ARRAY_WRITEABLE, NULL);
    if (made && base) {
        Py_INCREF(base);
        if (PyArray_SetBaseObject((PyArrayObject *)made, base)) Py_CLEAR(made);
    }
    return made;
}

static PyObject *allocate(const Layout *layout) {
    if (!layout->nbytes) {
        Py_INCREF(layout->descr);
        return PyArray_NewFromDescr(&PyArray_Type, layout->descr, layout->nd, layout->shape, NULL,
                                    NULL, 0, NULL);
    }
    npy_intp size = layout->nbytes;
    PyObject *memory = PyArray_SimpleNew(1, &size, NPY_UINT8);
    if (!memory) return NULL;
    char *data = (char *)PyArray_DATA((PyArrayObject *)memory) + layout->before;
    PyObject *made = array_on(layout, data, memory);
    Py_DECREF(memory);
    return made;
}

/* Calls a function of Python's on arrays, and keeps what it returns. */
static int call_python(Stage *stage, char **slots, PyObject **objects) {
    PyObject *args = PyTuple_New(stage->nins);
    if (!args) return -1;
    for (Py_ssize_t i = 0; i < stage->nins; i++) {
        Layout *in = stage->ins + i;
        PyObject *base = objects[in->slot];
        PyObject *array = base && in->is_whole
            ? Py_NewRef(base) : array_on(in, slots[in->slot] + in->offset, base);
        if (!array) { Py_DECREF(args); return -1; }
        PyTuple_SET_ITEM(args, i, array);
    }
    PyObject *found = PyObject_CallObject(stage->call, args);
    Py_DECREF(args);
    if (!found) return -1;
    for (Py_ssize_t i = 0; i < stage->nouts; i++) {
        Layout *out = stage->outs + i;
        PyObject *array = PyTuple_GET_ITEM(found, i);
        Py_XSETREF(objects[out->slot], Py_NewRef(array));
        slots[out->slot] = PyArray_DATA((PyArrayObject *)array);
    }
    Py_DECREF(found);
    return 0;
}

/* The largest arena so far, while no call uses it: all programs share it, as nothing in an arena
   outlives the call. */
static Arena spare;

static Arena take_arena(size_t size) {
    Arena found = spare;
    if (size && found.size >= size) {
        spare = (Arena){NULL, 0};
        return found;
    }
    found = (Arena){NULL, size};
    if (size && posix_memalign((void **)&found.memory, 64, size)) found.memory = NULL;
    return found;
}

static void give_arena(Arena arena) {
    Arena smaller = arena.size > spare.size ? spare : arena;
    if (arena.size > spare.size) spare = arena;
    free(smaller.memory);
}

/* Raises what a stage says is wrong: a letter for the class, and the message. */
static void raise_error(const char *wrong) {
    if (*wrong != 'L') {
        PyErr_SetString(*wrong == 'I' ? PyExc_IndexError : PyExc_RuntimeError, wrong + 1);
        return;
    }
    PyObject *module = PyImport_ImportModule("gradspec.linalg");
    PyObject *error = module ? PyObject_GetAttrString(module, "LinAlgError") : NULL;
    if (error) PyErr_SetString(error, wrong + 1);
    Py_XDECREF(error);
    Py_XDECREF(module);
}

static const char *run_stage(Entry *entry, Stage *stage, char **slots) {
    if (!entry->narrows_blas) return stage->run(slots);
    narrow_blas();
    const char *wrong = stage->run(slots);
    widen_blas();
    return wrong;
}

static int run_stages(Entry *entry, char **slots, PyObject **objects) {
    for (Py_ssize_t i = 0; i < entry->nstages; i++) {
        Stage *stage = entry->stages + i;
        const char *wrong = NULL;
        if (stage->call) {
            if (call_python(stage, slots, objects)) return -1;
        } else if (entry->lets_run) {
            Py_BEGIN_ALLOW_THREADS
            wrong = run_stage(entry, stage, slots);
            Py_END_ALLOW_THREADS
        } else {
            wrong = run_stage(entry, stage, slots);
        }
        if (wrong) {
            raise_error(wrong);
            return -1;
        }
    }
    return 0;
}

static PyObject *results(Entry *entry, char **slots, PyObject **objects) {
    PyObject *found = PyTuple_New(entry->nouts);
    for (Py_ssize_t i = 0; found && i < entry->nouts; i++) {
        Layout *out = entry->outs + i;
        PyObject *base = objects[out->slot];
        PyObject *array = out->is_whole ? Py_NewRef(base)
                                        : array_on(out, slots[out->slot] + out->offset, base);
        if (!array) Py_CLEAR(found);
        else PyTuple_SET_ITEM(found, i, array);
    }
    return found;
}

static PyObject *run_entry(Entry *entry, PyObject *const *args, Py_ssize_t count, int is_attempt) {
    if (count != entry->nins) {
        PyErr_Format(PyExc_TypeError, "gs.compile: a program takes %zd arrays, not %zd", entry->nins, count);
        return NULL;
    }
    char *few_slots[64];
    PyObject *few_objects[64];
    char **slots = few_slots;
    PyObject **objects = few_objects;
    PyObject *found = NULL;
    Arena arena = {NULL, 0};
    if (entry->nslots > 64) {
        slots = PyMem_Malloc(entry->nslots * sizeof(char *));
        objects = PyMem_Malloc(entry->nslots * sizeof(PyObject *));
        if (!slots || !objects) { PyErr_NoMemory(); goto memory; }
    }
    memcpy(slots, entry->constants, entry->nslots * sizeof(char *));
    memset(objects, 0, entry->nslots * sizeof(PyObject *));
    for (Py_ssize_t i = 0; i < count; i++) {
        if (check(i, entry->ins + i, args[i])) {
            if (is_attempt) {
                PyErr_Clear();
                found = Py_NewRef(Py_None);
            }
            goto done;
        }
        slots[i + 1] = PyArray_DATA((PyArrayObject *)args[i]);
        objects[i + 1] = Py_NewRef(args[i]);
    }
    for (Py_ssize_t i = 0; i < entry->nfresh; i++) {
        Layout *layout = entry->fresh + i;
        PyObject *made = allocate(layout);
        if (!made) goto done;
        objects[layout->slot] = made;
        slots[layout->slot] = PyArray_DATA((PyArrayObject *)made);
    }
    arena = take_arena(entry->arena_size);
    if (!arena.memory && entry->arena_size) { PyErr_NoMemory(); goto done; }
    slots[0] = arena.memory;
    if (!run_stages(entry, slots, objects)) found = results(entry, slots, objects);
done:
    if (arena.memory) give_arena(arena);
    for (Py_ssize_t i = 0; i < entry->nslots; i++) Py_XDECREF(objects[i]);
memory:
    if (slots != few_slots) {
        PyMem_Free(slots);
        PyMem_Free(objects);
    }
    return found;
}

static PyObject *entry_call(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
    if (names && PyTuple_GET_SIZE(names)) {
        PyErr_SetString(PyExc_TypeError, "gs.compile: a program takes no keyword arguments");
        return NULL;
    }
    return run_entry((Entry *)self, args, PyVectorcall_NARGS(flags), 0);
}

static PyObject *entry_attempt(PyObject *self, PyObject *const *args, Py_ssize_t count) {
    return run_entry((Entry *)self, args, count, 1);
}

static PyMethodDef entry_methods[] = {
    {"attempt", (PyCFunction)(void (*)(void))entry_attempt, METH_FASTCALL,
     "Run the program, or return None if an array has another dtype, shape or layout."},
    {NULL, NULL, 0, NULL},
};

/* Reads (address, None, (), ()) or (0, callable, inputs, outputs). */
static int read_stage(PyObject *given, Stage *stage) {
    unsigned long long address;
    PyObject *call, *ins, *outs;
    if (!PyArg_ParseTuple(given, "KOO!O!", &address, &call, &PyTuple_Type, &ins, &PyTuple_Type, &outs))
        return -1;
    stage->run = (const char *(*)(char *const *))(uintptr_t)address;
    stage->call = call == Py_None ? NULL : Py_NewRef(call);
    stage->ins = read_layouts(ins, &stage->nins);
    stage->outs = stage->ins ? read_layouts(outs, &stage->nouts) : NULL;
    return stage->outs ? 0 : -1;
}

static PyObject *entry_new(PyTypeObject *type, PyObject *args, PyObject *Py_UNUSED(kwargs)) {
    PyObject *ins, *fresh, *outs, *stages, *constants, *keep;
    Py_ssize_t nslots, arena_size;
    int lets_run, narrows_blas;
    if (!PyArg_ParseTuple(args, "nnppO!O!O!O!O!O", &nslots, &arena_size, &lets_run, &narrows_blas,
                          &PyTuple_Type, &ins, &PyTuple_Type, &fresh, &PyTuple_Type, &outs,
                          &PyTuple_Type, &stages, &PyTuple_Type, &constants, &keep))
        return NULL;
    Entry *entry = (Entry *)type->tp_alloc(type, 0);
    if (!entry) return NULL;
    entry->vectorcall = entry_call;
    entry->keep = Py_BuildValue("OO", constants, keep);
    entry->nslots = nslots;
    entry->arena_size = arena_size;
    entry->lets_run = lets_run;
    entry->narrows_blas = narrows_blas;
    entry->constants = PyMem_Calloc(nslots, sizeof(char *));
    if (!entry->constants || !entry->keep) goto failed;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); i++) {
        Py_ssize_t slot;
        PyObject *array;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(constants, i), "nO!", &slot, &PyArray_Type, &array))
            goto failed;
        entry->constants[slot] = PyArray_DATA((PyArrayObject *)array);
    }
    if (!(entry->ins = read_layouts(ins, &entry->nins))) goto failed;
    if (!(entry->fresh = read_layouts(fresh, &entry->nfresh))) goto failed;
    if (!(entry->outs = read_layouts(outs, &entry->nouts))) goto failed;
    entry->nstages = PyTuple_GET_SIZE(stages);
    entry->stages = PyMem_Calloc(entry->nstages + 1, sizeof(Stage));
    if (!entry->stages) goto failed;
    for (Py_ssize_t i = 0; i < entry->nstages; i++)
        if (read_stage(PyTuple_GET_ITEM(stages, i), entry->stages + i)) goto failed;
    return (PyObject *)entry;
failed:
    Py_DECREF(entry);
    return NULL;
}

static void entry_dealloc(PyObject *self) {
    Entry *entry = (Entry *)self;
    if (entry->__weakrefs) PyObject_ClearWeakRefs(self);
    free_layouts(entry->ins, entry->nins);
    free_layouts(entry->fresh, entry->nfresh);
    free_layouts(entry->outs, entry->nouts);
    for (Py_ssize_t i = 0; entry->stages && i < entry->nstages; i++) {
        Py_XDECREF(entry->stages[i].call);
        free_layouts(entry->stages[i].ins, entry->stages[i].nins);
        free_layouts(entry->stages[i].outs, entry->stages[i].nouts);
    }
    PyMem_Free(entry->stages);
    PyMem_Free(entry->constants);
    if (entry->arena_size && entry->arena_size == spare.size) {
        free(spare.memory);
        spare = (Arena){NULL, 0};
    }
    Py_XDECREF(entry->keep);
    Py_TYPE(self)->tp_free(self);
}

static PyTypeObject EntryType = {
    PyVarObject_HEAD_INIT(NULL, 0)
    .tp_name = "gradspec.compiler.c.Entry",
    .tp_doc = "A compiled program: takes the input arrays, and returns a tuple of the outputs.",
    .tp_basicsize = sizeof(Entry),
    .tp_dealloc = entry_dealloc,
    .tp_new = entry_new,
    .tp_call = PyVectorcall_Call,
    .tp_methods = entry_methods,
    .tp_vectorcall_offset = offsetof(Entry, vectorcall),
    .tp_weaklistoffset = offsetof(Entry, __weakrefs),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, .m_name = "gradspec_entry", .m_size = -1, .m_methods = methods,
};

PyMODINIT_FUNC PyInit_gradspec_entry(void) {
    import_array();
    if (PyType_Ready(&EntryType) || pthread_atfork(NULL, NULL, forget_threads)) return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module && PyModule_AddObjectRef(module, "Entry", (PyObject *)&EntryType)) Py_CLEAR(module);
    return module;
}
