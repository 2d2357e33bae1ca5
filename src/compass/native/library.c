/* The door between Python and the kernels: arguments are checked, the lock is given up, a kernel
 * runs. `compass.native` knows these functions. */
#include <stdio.h>

#include "kernel.h"
#include "python_abi.h"

#define EXPORT __attribute__((visibility("default")))
#define MOST_ARGUMENTS 40

static const Kernel *const TABLES[] = {
    DISTANCE,
    EMBED,
    EXTRA,
    GROW,
    NETWORK,
    OBLIVIOUS,
    PAIRS,
    PLANES,
    REACH,
    REDUCE,
    ROWS,
    SCHEDULE,
    SHAPLEY,
    SUMS,
    TEXT,
    WALK,
};

EXPORT const char *sources(void) { return SOURCES; }

/* The kernel of this name, which stays where it is; NULL if there is none. */
EXPORT const Kernel *kernel_named(const char *name)
{
    for (size_t t = 0; t < sizeof TABLES / sizeof *TABLES; t++)
        for (const Kernel *k = TABLES[t]; k->name; k++)
            if (strcmp(k->name, name) == 0)
                return k;
    return NULL;
}

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* The size of a letter of the module `struct` on this machine, for the kinds that are used. */
static bool is_kind(const char *format, char kind)
{
    if (format == NULL)
        return kind == 'u';
    if (*format == '<' || *format == '=' || *format == '@')
        format++;
    const char *letters = kind == 'f'   ? "fd"
                          : kind == 'i' ? "ilq"
                          : kind == 'u' ? "BHILQ"
                          : kind == 'b' ? "?"
                                        : "T";
    return strchr(letters, *format) != NULL && *format;
}

/* Take in an array of the type at `type`; 0, or -1 with the error set. */
static int take_array(PyObject *given, const char *type, Py_buffer *view, Argument *a)
{
    bool written = starts(type, "to_");
    const char *plain = written ? type + 3 : type;
    int dimensions = 1;
    Py_ssize_t size;
    char kind = plain[0];
    if (starts(plain, "node"))
        size = 16, kind = 'n';
    else if (starts(plain, "wide"))
        size = 24, kind = 'n';
    else {
        size = plain[1] - '0';
        if (plain[2] == '_')
            dimensions = plain[3] - '0';
    }
    int flags = PyBUF_FORMAT | PyBUF_C_CONTIGUOUS | (written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(given, view, flags) < 0)
        return -1;
    bool aligned = view->len == 0 || (uintptr_t)view->buf % (size < 8 ? size : 8) == 0;
    if (view->ndim != dimensions || view->itemsize != size || !is_kind(view->format, kind) ||
        !aligned) {
        PyErr_Format(PyExc_TypeError, "an array of %d dimensions of '%s'%s is no %.8s", view->ndim,
                     view->format ? view->format : "B", aligned ? "" : " that is not aligned", type);
        PyBuffer_Release(view);
        return -1;
    }
    a->data = view->buf;
    for (int d = 0; d < dimensions; d++)
        a->shape[d] = view->shape[d];
    return 0;
}

static int take(PyObject *given, const char *type, Py_buffer *view, bool *viewed, Argument *a)
{
    if (starts(type, "integer"))
        a->integer = PyLong_AsLongLong(given);
    else if (starts(type, "bits"))
        a->bits = PyLong_AsUnsignedLongLongMask(given);
    else if (starts(type, "number"))
        a->number = PyFloat_AsDouble(given);
    else {
        *viewed = take_array(given, type, view, a) == 0;
        return *viewed ? 0 : -1;
    }
    return PyErr_Occurred() ? -1 : 0;
}

/* Run a kernel on a tuple of arguments. Called with the interpreter's lock; errors are Python's. */
EXPORT void run_kernel(const Kernel *kernel, PyObject *given)
{
    Py_buffer views[MOST_ARGUMENTS];
    Argument arguments[MOST_ARGUMENTS];
    bool viewed[MOST_ARGUMENTS] = {false};
    Py_ssize_t count = PyTuple_Size(given), i = 0;
    const char *type = kernel->types;
    for (; *type && i < count && i < MOST_ARGUMENTS; i++) {
        if (take(PyTuple_GetItem(given, i), type, &views[i], &viewed[i], &arguments[i]) < 0)
            break;
        type += strcspn(type, " ");
        type += *type == ' ';
    }
    if (*type == '\0' && i == count) {
        void *state = PyEval_SaveThread();
        int failed = kernel->run(arguments);
        PyEval_RestoreThread(state);
        if (failed)
            PyErr_NoMemory();
    } else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s takes other arguments than %zd", kernel->name, count);
    for (Py_ssize_t v = 0; v < count && v < MOST_ARGUMENTS; v++)
        if (viewed[v])
            PyBuffer_Release(&views[v]);
}
