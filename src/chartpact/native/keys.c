/* Keys of a script's dicts, hashed with a secret.

   Python hashes texts with a secret, and numbers and tuples without: their places in a dict can be
   foretold, and so can keys that make one look-up pass by all others. A Table is a dict that keeps
   numbers and tuples as Keys, which hash by SipHash-1-3. The secret is made of Python's own, so
   that PYTHONHASHSEED governs both. Whoever uses a Table sees the values alone. */
#include "module.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

typedef struct {
    PyObject_HEAD
    PyObject *value;
    Py_hash_t hash;
} Key;

static PyTypeObject *key_type, *table_type;
static uint64_t secret[2];

/* ------------------------------------------------------------------------------------ hashing */

typedef struct {
    uint64_t a, b, c, d;
} Sip;

#define TURN(x, bits) ((x) << (bits) | (x) >> (64 - (bits)))

static inline void stir(Sip *s)
{
    s->a += s->b, s->c += s->d;
    s->b = TURN(s->b, 13) ^ s->a, s->d = TURN(s->d, 16) ^ s->c;
    s->a = TURN(s->a, 32);
    s->c += s->b, s->a += s->d;
    s->b = TURN(s->b, 17) ^ s->c, s->d = TURN(s->d, 21) ^ s->a;
    s->c = TURN(s->c, 32);
}

static inline void absorb(Sip *s, uint64_t word)
{
    s->d ^= word;
    stir(s);
    s->a ^= word;
}

/* No two keys that differ are absorbed alike: whole numbers, which have 61 bits, as themselves, all
   else after a mark that no such number is. Numbers that are equal are absorbed alike: 1 and 1.0. */
enum { FRACTION = 1, NOT_A_NUMBER, TUPLE, TEXT, OTHER };

static inline void mark(Sip *s, uint64_t kind, uint64_t word)
{
    absorb(s, UINT64_C(1) << 62 | kind << 56);
    absorb(s, word);
}

static void absorb_float(Sip *s, PyObject *value)
{
    double x = PyFloat_AsDouble(value);
    uint64_t bits;
    if (fabs(x) < 0x1p61 && x == floor(x)) {
        absorb(s, (uint64_t)(int64_t)x);
        return;
    }
    memcpy(&bits, &x, sizeof bits);
    mark(s, isnan(x) ? NOT_A_NUMBER : FRACTION, isnan(x) ? (uintptr_t)value : bits);
}

static int absorb_value(Sip *s, PyObject *value)
{
    if (PyLong_CheckExact(value)) {
        int over;
        long long whole = PyLong_AsLongLongAndOverflow(value, &over);
        if (!over && whole > -(1LL << 61) && whole < 1LL << 61) {
            absorb(s, (uint64_t)whole);
            return 0;
        }
    }
    if (PyFloat_CheckExact(value)) {
        absorb_float(s, value);
        return 0;
    }
    if (PyTuple_CheckExact(value)) {
        Py_ssize_t length = PyTuple_Size(value);
        mark(s, TUPLE, (uint64_t)length);
        if (Py_EnterRecursiveCall(" while a key is hashed"))
            return -1;
        int failed = 0;
        for (Py_ssize_t i = 0; i < length && !failed; i++)
            failed = absorb_value(s, PyTuple_GetItem(value, i));
        Py_LeaveRecursiveCall();
        return failed;
    }
    Py_hash_t hash = PyObject_Hash(value);
    if (hash == -1)
        return -1;
    mark(s, PyUnicode_Check(value) ? TEXT : OTHER, (uint64_t)hash);
    return 0;
}

static int hashed(PyObject *value, Py_hash_t *hash)
{
    Sip s = {
        secret[0] ^ UINT64_C(0x736f6d6570736575), secret[1] ^ UINT64_C(0x646f72616e646f6d),
        secret[0] ^ UINT64_C(0x6c7967656e657261), secret[1] ^ UINT64_C(0x7465646279746573)};
    if (absorb_value(&s, value) < 0)
        return -1;
    s.c ^= 0xff;
    stir(&s), stir(&s), stir(&s);
    *hash = (Py_hash_t)(s.a ^ s.b ^ s.c ^ s.d);
    *hash -= *hash == -1;
    return 0;
}

/* --------------------------------------------------------------------------------------- keys */

/* The key as a Table keeps it: a new reference. */
static PyObject *sealed(PyObject *value)
{
    if (!PyLong_CheckExact(value) && !PyFloat_CheckExact(value) && !PyTuple_CheckExact(value)) {
        Py_INCREF(value);
        return value;
    }
    Py_hash_t hash;
    if (hashed(value, &hash) < 0)
        return NULL;
    Key *key = PyObject_GC_New(Key, key_type);
    if (!key)
        return NULL;
    Py_INCREF(value);
    key->value = value;
    key->hash = hash;
    if (PyTuple_CheckExact(value)) /* which may hold functions, and they the dict */
        PyObject_GC_Track((PyObject *)key);
    return (PyObject *)key;
}

/* What a kept key stands for: a borrowed reference. */
static inline PyObject *opened(PyObject *key)
{
    return Py_TYPE(key) == key_type ? ((Key *)key)->value : key;
}

static Py_hash_t key_hash(PyObject *self) { return ((Key *)self)->hash; }

static PyObject *key_compare(PyObject *a, PyObject *b, int operation)
{
    if (Py_TYPE(a) != key_type || Py_TYPE(b) != key_type || (operation != Py_EQ && operation != Py_NE)) {
        Py_RETURN_NOTIMPLEMENTED;
    }
    int same = ((Key *)a)->hash == ((Key *)b)->hash;
    if (same)
        same = PyObject_RichCompareBool(((Key *)a)->value, ((Key *)b)->value, Py_EQ);
    return same < 0 ? NULL : PyBool_FromLong(same == (operation == Py_EQ));
}

static PyObject *key_repr(PyObject *self) { return PyObject_Repr(((Key *)self)->value); }

static int key_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Key *)self)->value);
    return 0;
}

static int key_clear(PyObject *self)
{
    (void)self; /* a tuple cannot be part of a circle that only it could open */
    return 0;
}

static void key_free(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(((Key *)self)->value);
    PyObject_GC_Del(self);
    Py_DECREF(type);
}

static PyType_Slot key_slots[] = {
    {Py_tp_hash, key_hash},
    {Py_tp_richcompare, key_compare},
    {Py_tp_repr, key_repr},
    {Py_tp_traverse, key_traverse},
    {Py_tp_clear, key_clear},
    {Py_tp_dealloc, key_free},
    {Py_tp_doc, "A number or a tuple as a Table keeps it."},
    {0, NULL},
};

static PyType_Spec key_spec = {
    .name = "chartpact._native.Key",
    .basicsize = sizeof(Key),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = key_slots,
};

/* ------------------------------------------------------------------------------------- tables */

static void no_key(PyObject *key)
{
    PyObject *told = PyTuple_Pack(1, opened(key)); /* a tuple would be taken for several values */
    if (told)
        PyErr_SetObject(PyExc_KeyError, told);
    Py_XDECREF(told);
}

/* The value under a key, a new reference; NULL without an error if there is none. */
static PyObject *found(PyObject *self, PyObject *key)
{
    PyObject *kept = sealed(key);
    if (!kept)
        return NULL;
    PyObject *value = PyDict_GetItemWithError(self, kept);
    Py_XINCREF(value);
    Py_DECREF(kept);
    return value;
}

static int put(PyObject *self, PyObject *key, PyObject *value)
{
    PyObject *kept = sealed(key);
    if (!kept)
        return -1;
    int failed = PyDict_SetItem(self, kept, value);
    Py_DECREF(kept);
    return failed;
}

static PyObject *table_item(PyObject *self, PyObject *key)
{
    PyObject *value = found(self, key);
    if (!value && !PyErr_Occurred())
        no_key(key);
    return value;
}

static int table_store(PyObject *self, PyObject *key, PyObject *value)
{
    if (value)
        return put(self, key, value);
    PyObject *kept = sealed(key);
    if (!kept)
        return -1;
    int failed = PyDict_DelItem(self, kept);
    Py_DECREF(kept);
    if (failed && PyErr_ExceptionMatches(PyExc_KeyError))
        no_key(key);
    return failed;
}

static int table_holds(PyObject *self, PyObject *key)
{
    PyObject *kept = sealed(key);
    if (!kept)
        return -1;
    int held = PyDict_Contains(self, kept);
    Py_DECREF(kept);
    return held;
}

static PyObject *table_keys(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *keys = PyList_New(PyDict_Size(self)), *key;
    Py_ssize_t at = 0, place = 0;
    while (keys && PyDict_Next(self, &place, &key, NULL)) {
        Py_INCREF(opened(key));
        PyList_SetItem(keys, at++, opened(key));
    }
    return keys;
}

static PyObject *table_items(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *items = PyList_New(PyDict_Size(self)), *key, *value;
    Py_ssize_t at = 0, place = 0;
    while (items && PyDict_Next(self, &place, &key, &value)) {
        PyObject *pair = PyTuple_Pack(2, opened(key), value);
        if (!pair)
            Py_CLEAR(items);
        else
            PyList_SetItem(items, at++, pair);
    }
    return items;
}

static PyObject *table_iterator(PyObject *self)
{
    PyObject *keys = table_keys(self, NULL);
    PyObject *iterator = keys ? PyObject_GetIter(keys) : NULL;
    Py_XDECREF(keys);
    return iterator;
}

static PyObject *table_get(PyObject *self, PyObject *args)
{
    PyObject *key, *usual = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:get", &key, &usual))
        return NULL;
    PyObject *value = found(self, key);
    if (!value && !PyErr_Occurred()) {
        Py_INCREF(usual);
        value = usual;
    }
    return value;
}

static PyObject *table_setdefault(PyObject *self, PyObject *args)
{
    PyObject *key, *usual = Py_None;
    if (!PyArg_ParseTuple(args, "O|O:setdefault", &key, &usual))
        return NULL;
    PyObject *value = found(self, key);
    if (value || PyErr_Occurred() || put(self, key, usual) < 0)
        return value;
    Py_INCREF(usual);
    return usual;
}

static PyObject *table_pop(PyObject *self, PyObject *args)
{
    PyObject *key, *usual = NULL;
    if (!PyArg_ParseTuple(args, "O|O:pop", &key, &usual))
        return NULL;
    PyObject *value = found(self, key);
    if (value) {
        if (table_store(self, key, NULL) < 0)
            Py_CLEAR(value);
    } else if (!PyErr_Occurred()) {
        if (!usual)
            no_key(key);
        Py_XINCREF(usual);
        value = usual;
    }
    return value;
}

static PyObject *table_popitem(PyObject *self, PyObject *unused)
{
    (void)unused;
    PyObject *key, *value;
    Py_ssize_t place = 0;
    if (!PyDict_Next(self, &place, &key, &value)) {
        PyErr_SetString(PyExc_KeyError, "the dict is empty");
        return NULL;
    }
    PyObject *pair = PyTuple_Pack(2, opened(key), value);
    Py_INCREF(key);
    if (pair && PyDict_DelItem(self, key) < 0)
        Py_CLEAR(pair);
    Py_DECREF(key);
    return pair;
}

static int merge_pairs(PyObject *self, PyObject *pairs)
{
    PyObject *iterator = PyObject_GetIter(pairs), *each;
    int failed = iterator ? 0 : -1;
    while (!failed && (each = PyIter_Next(iterator))) {
        PyObject *pair = PySequence_Tuple(each);
        Py_DECREF(each);
        if (pair && PyTuple_Size(pair) == 2)
            failed = put(self, PyTuple_GetItem(pair, 0), PyTuple_GetItem(pair, 1));
        else if (pair)
            PyErr_SetString(PyExc_ValueError, "a dict is made of pairs");
        failed = PyErr_Occurred() ? -1 : failed;
        Py_XDECREF(pair);
    }
    Py_XDECREF(iterator);
    return failed || PyErr_Occurred() ? -1 : 0;
}

static int merge(PyObject *self, PyObject *other)
{
    if (other == self)
        return 0;
    if (!PyDict_Check(other))
        return merge_pairs(self, other);
    PyObject *key, *value;
    Py_ssize_t place = 0;
    while (PyDict_Next(other, &place, &key, &value)) { /* of a Table, the keys as it keeps them */
        Py_INCREF(key);
        Py_INCREF(value);
        int failed = put(self, key, value);
        Py_DECREF(key);
        Py_DECREF(value);
        if (failed)
            return -1;
    }
    return 0;
}

static PyObject *table_update(PyObject *self, PyObject *args, PyObject *named)
{
    PyObject *other = NULL;
    if (!PyArg_ParseTuple(args, "|O:update", &other))
        return NULL;
    if ((other && merge(self, other) < 0) || (named && merge(self, named) < 0))
        return NULL;
    Py_RETURN_NONE;
}

static int table_init(PyObject *self, PyObject *args, PyObject *named)
{
    PyObject *done = table_update(self, args, named);
    Py_XDECREF(done);
    return done ? 0 : -1;
}

static PyMethodDef table_methods[] = {
    {"get", table_get, METH_VARARGS, "The value under a key, or the other one."},
    {"items", table_items, METH_NOARGS, "A list of (key, value)."},
    {"keys", table_keys, METH_NOARGS, "A list of the keys."},
    {"pop", table_pop, METH_VARARGS, "Removes a key, and gives what stood under it."},
    {"popitem", table_popitem, METH_NOARGS, "Removes the first key, where Python's removes the last."},
    {"setdefault", table_setdefault, METH_VARARGS, "The value under a key, which is put there if need be."},
    {"update", (PyCFunction)(void (*)(void))table_update, METH_VARARGS | METH_KEYWORDS,
     "Takes over the keys and values of a dict, or of pairs."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot table_slots[] = {
    {Py_tp_init, table_init},
    {Py_tp_iter, table_iterator},
    {Py_tp_methods, table_methods},
    {Py_mp_subscript, table_item},
    {Py_mp_ass_subscript, table_store},
    {Py_sq_contains, table_holds},
    {Py_tp_doc, "A dict whose numbers and tuples are hashed with a secret."},
    {0, NULL},
};

static PyType_Spec table_spec = {
    .name = "chartpact._native.Table",
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = table_slots,
};

/* ------------------------------------------------------------------------------------- module */

static PyObject *seal(PyObject *self, PyObject *value)
{
    (void)self;
    return sealed(value);
}

static PyMethodDef methods[] = {
    {"seal", seal, METH_O, "A key as a Table keeps it, to be handed to one."},
    {NULL, NULL, 0, NULL},
};

static int learn_secret(void)
{
    static const char *const words[] = {"the first half of the secret", "and the second"};
    for (int k = 0; k < 2; k++) {
        PyObject *word = PyUnicode_FromString(words[k]);
        if (!word)
            return -1;
        secret[k] = (uint64_t)PyObject_Hash(word);
        Py_DECREF(word);
    }
    return 0;
}

int add_keys(PyObject *module)
{
    PyObject *bases = PyTuple_Pack(1, (PyObject *)&PyDict_Type);
    if (!bases || learn_secret() < 0)
        return -1;
    key_type = (PyTypeObject *)PyType_FromSpec(&key_spec);
    table_type = (PyTypeObject *)PyType_FromSpecWithBases(&table_spec, bases);
    Py_DECREF(bases);
    if (!key_type || !table_type)
        return -1;
    if (PyModule_AddObjectRef(module, "Table", (PyObject *)table_type) < 0)
        return -1;
    return PyModule_AddFunctions(module, methods);
}
