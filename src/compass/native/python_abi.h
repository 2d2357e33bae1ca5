/* The few functions of Python that are called here, as its stable ABI has them since 3.11
 * (PEP 384): the library is compiled without Python's headers, and works with every later version. */
#ifndef PYTHON_ABI_H
#define PYTHON_ABI_H

#include <stdint.h>

typedef struct _object PyObject;
typedef intptr_t Py_ssize_t;

typedef struct {
    void *buf;
    PyObject *obj;
    Py_ssize_t len;
    Py_ssize_t itemsize;
    int readonly;
    int ndim;
    char *format;
    Py_ssize_t *shape;
    Py_ssize_t *strides;
    Py_ssize_t *suboffsets;
    void *internal;
} Py_buffer;

#define PyBUF_WRITABLE 0x0001
#define PyBUF_FORMAT 0x0004
#define PyBUF_C_CONTIGUOUS (0x0020 | 0x0010 | 0x0008)

extern PyObject *PyExc_TypeError;

int PyObject_GetBuffer(PyObject *object, Py_buffer *view, int flags);
void PyBuffer_Release(Py_buffer *view);
Py_ssize_t PyTuple_Size(PyObject *tuple);
PyObject *PyTuple_GetItem(PyObject *tuple, Py_ssize_t place);
long long PyLong_AsLongLong(PyObject *object);
unsigned long long PyLong_AsUnsignedLongLongMask(PyObject *object);
double PyFloat_AsDouble(PyObject *object);
PyObject *PyErr_Occurred(void);
PyObject *PyErr_NoMemory(void);
PyObject *PyErr_Format(PyObject *type, const char *format, ...);
void *PyEval_SaveThread(void);
void PyEval_RestoreThread(void *state);

#endif
