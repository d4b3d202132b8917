/* The reader of NumPy arrays. */
#include "read_bytes.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <unistd.h>

static size_t make_npy(char *to, int version, const char *dict, const void *data, size_t size)
{
    size_t length = strlen(dict), before = version == 1 ? 10 : 12;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (char)version;
    to[7] = 0;
    to[8] = (char)(length & 255);
    to[9] = (char)(length >> 8);
    to[10] = to[11] = 0;
    memcpy(to + before, dict, length);
    memcpy(to + before + length, data, size);
    return before + length + size;
}

static void numpy_arrays_of_all_kinds(void **state)
{
    (void)state;
    static const double f8[] = {1, 2, 3, 4, 5, 6};
    static const float f4[] = {1, 2, 3, 4, 5, 6};
    static const int64_t i8[] = {1, 2, 3, 4, 5, 6};
    double big[6];
    for (int i = 0; i < 6; i++)
        for (int b = 0; b < 8; b++) ((char *)&big[i])[b] = ((const char *)&f8[i])[7 - b];
    static const char *const shape[] = {"(3, 2), ", "(1, 3, 2), "};
    const struct {
        const char *descr;
        const void *data;
        size_t size;
    } kinds[] = {
        {"<f8", f8, sizeof f8}, {">f8", big, sizeof big}, {"<f4", f4, sizeof f4}, {"<i8", i8, sizeof i8}};
    for (int version = 1; version <= 3; version++)
        for (int s = 0; s < 2; s++)
            for (int k = 0; k < 4; k++) {
                char dict[200], file[1000];
                snprintf(dict, sizeof dict, "{'descr': '%s', 'fortran_order': False, 'shape': %s}   \n",
                         kinds[k].descr, shape[s]);
                size_t n = make_npy(file, version, dict, kinds[k].data, kinds[k].size);
                invit_instance *p;
                invit_error err;
                assert_int_equal(read_bytes(file, n, &p, &err), INVIT_OK);
                assert_int_equal(p->n, 3);
                assert_string_equal(p->name, s == 0 ? "f" : "f#0");
                for (int i = 0; i < 6; i++) assert_true(p->xy[i] == i + 1);
                invit_instance_destroy(p);
                /* any shorter file is refused */
                for (size_t cut = 1; cut < n; cut++) {
                    assert_int_not_equal(read_bytes(file, n - cut, &p, &err), INVIT_OK);
                    assert_non_null(strstr(err.message, "f:"));
                }
            }
}

static void numpy_stacks_come_one_by_one(void **state)
{
    (void)state;
    double data[2][2][2] = {{{1, 2}, {3, 4}}, {{5, 6}, {7, 8}}};
    char file[1000];
    size_t n = make_npy(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2), }\n", data,
                        sizeof data);
    invit_reader *r;
    invit_instance *p;
    assert_int_equal(invit_reader_open_memory(file, n, "a.npy", &r, NULL), INVIT_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(invit_reader_next(r, &p, NULL), INVIT_OK);
        assert_true(p->xy[0] == 1 + 4 * i);
        invit_instance_destroy(p);
    }
    assert_int_equal(invit_reader_next(r, &p, NULL), INVIT_OK);
    assert_null(p);
    invit_reader_close(r);
}

/* More bytes than the header says are an error before the first instance is handed out. */
static void numpy_arrays_that_are_too_long_are_refused_at_once(void **state)
{
    (void)state;
    double data[9] = {0};
    char file[1000], path[64] = "/tmp/invit-read-XXXXXX";
    invit_instance *p;
    invit_error err;
    for (size_t more = 0; more <= sizeof data - sizeof(double[8]); more++) {
        size_t n = make_npy(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 2, 2)}", data,
                            sizeof(double[8]) + more);
        int fd = mkstemp(strcpy(path, "/tmp/invit-read-XXXXXX"));
        assert_true(fd >= 0 && write(fd, file, n) == (ssize_t)n && close(fd) == 0);
        for (int from_file = 0; from_file < 2; from_file++) {
            invit_status status =
                from_file ? invit_instance_read(path, 0, &p, &err) : read_bytes(file, n, &p, &err);
            assert_int_equal(status, more ? INVIT_ERR_INPUT : INVIT_OK);
            if (more) assert_non_null(strstr(err.message, "expected the end of the file after the array"));
            invit_instance_destroy(p);
        }
        unlink(path);
    }
}

static void bad_numpy_arrays_are_refused(void **state)
{
    (void)state;
    static const struct {
        const char *dict, *message;
    } cases[] = {
        {"{'descr': '<f8', 'fortran_order': True, 'shape': (3, 2)}", "expected C order"},
        {"{'descr': '<f2', 'fortran_order': False, 'shape': (3, 2)}", "expected numbers of type"},
        {"{'descr': '|S8', 'fortran_order': False, 'shape': (3, 2)}", "expected numbers of type"},
        {"{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (3, 2)}", "'descr'"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4)}", "expected the shape (n, 2)"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (6,)}", "expected the shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 1, 3, 2)}", "expected the shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (0, 2)}", "expected 1 to"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999, 2)}", "expected 1 to"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999999, 2)}",
         "expected the shape"},
        {"{'descr': '<f8', 'fortran_order': False, 'shape': (4, 2)}",
         "expected 4 nodes, the file ends after 3"},
        {"{'descr': '<f8', 'fortran_order': False}", "'shape'"},
        {"{'descr': '<f8', 'shape': (3, 2)}", "expected C order"},
        {"", "'descr'"},
    };
    double data[6] = {0};
    char file[1000];
    invit_instance *p;
    invit_error err;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = make_npy(file, 1, cases[i].dict, data, sizeof data);
        assert_int_not_equal(read_bytes(file, n, &p, &err), INVIT_OK);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s: %s", cases[i].dict, err.message);
    }
    data[3] = NAN;
    size_t n =
        make_npy(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}", data, sizeof data);
    assert_int_equal(read_bytes(file, n, &p, &err), INVIT_ERR_INPUT);
    assert_non_null(strstr(err.message, "node 1: expected coordinates from -1e+18 to 1e+18"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numpy_arrays_of_all_kinds),
        cmocka_unit_test(numpy_stacks_come_one_by_one),
        cmocka_unit_test(numpy_arrays_that_are_too_long_are_refused_at_once),
        cmocka_unit_test(bad_numpy_arrays_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
