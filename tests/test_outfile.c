/* Output files appear whole or not at all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/outfile.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[64];

static const char *in_directory(const char *name)
{
    static char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static int make_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/invit-outfile-XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int entries(void)
{
    DIR *d = opendir(directory);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static int remove_directory(void **state)
{
    (void)state;
    DIR *d = opendir(directory);
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.') unlink(in_directory(e->d_name));
    closedir(d);
    return rmdir(directory);
}

static void read_back(const char *path, char *text, size_t room)
{
    FILE *f = fopen(path, "r");
    assert_non_null(f);
    text[fread(text, 1, room - 1, f)] = 0;
    fclose(f);
}

static void appears_only_when_closed(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    char text[64];
    assert_int_equal(inv_outfile_open(in_directory("a"), &f, &err), INVIT_OK);
    inv_outfile_printf(f, "%s %d\n", "hello", 7);
    assert_int_equal(inv_outfile_flush(f, &err), INVIT_OK);
    assert_int_equal(access(in_directory("a"), F_OK), -1);
    assert_int_equal(inv_outfile_close(f, &err), INVIT_OK);
    read_back(in_directory("a"), text, sizeof text);
    assert_string_equal(text, "hello 7\n");
    assert_int_equal(entries(), 1);
}

static void abandoned_output_leaves_the_old_file(void **state)
{
    (void)state;
    inv_outfile *f;
    char text[64];
    appears_only_when_closed(state);
    assert_int_equal(inv_outfile_open(in_directory("a"), &f, NULL), INVIT_OK);
    inv_outfile_puts(f, "other");
    inv_outfile_abandon(f);
    read_back(in_directory("a"), text, sizeof text);
    assert_string_equal(text, "hello 7\n");
    assert_int_equal(entries(), 1);
}

static void links_and_modes_survive(void **state)
{
    (void)state;
    inv_outfile *f;
    struct stat info;
    appears_only_when_closed(state);
    assert_int_equal(chmod(in_directory("a"), 0600), 0);
    char target[512];
    strcpy(target, in_directory("a"));
    assert_int_equal(symlink(target, in_directory("link")), 0);
    assert_int_equal(inv_outfile_open(in_directory("link"), &f, NULL), INVIT_OK);
    inv_outfile_puts(f, "new");
    assert_int_equal(inv_outfile_close(f, NULL), INVIT_OK);
    assert_int_equal(lstat(in_directory("link"), &info), 0);
    assert_true(S_ISLNK(info.st_mode));
    assert_int_equal(stat(in_directory("a"), &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(info.st_size, 3);
}

static void touch(const char *format, int pid)
{
    char name[64];
    snprintf(name, sizeof name, format, pid);
    int fd = open(in_directory(name), O_WRONLY | O_CREAT, 0600);
    assert_true(fd >= 0);
    close(fd);
}

static bool is_there(const char *format, int pid)
{
    char name[64];
    snprintf(name, sizeof name, format, pid);
    return access(in_directory(name), F_OK) == 0;
}

/* A process that is killed between giving the file a name and renaming it leaves it under the first one. */
static void leftovers_of_the_dead_are_removed(void **state)
{
    int dead = fork(), alive = (int)getpid();
    if (dead == 0) _exit(0);
    assert_int_equal(waitpid(dead, NULL, 0), dead);
    touch("a.partial-%d-0", dead);
    touch("a.partial-%d-0", alive);
    touch("a.partial-%d-0.bak", dead);
    touch("b.partial-%d-0", dead);
    touch("a", 0);
    inv_outfile *f;
    assert_int_equal(inv_outfile_open(in_directory("a"), &f, NULL), INVIT_OK);
    inv_outfile_puts(f, "new");
    assert_int_equal(inv_outfile_close(f, NULL), INVIT_OK);
    assert_false(is_there("a.partial-%d-0", dead));
    assert_true(is_there("a.partial-%d-0", alive)); /* it may be writing now */
    assert_true(is_there("a.partial-%d-0.bak", dead));
    assert_true(is_there("b.partial-%d-0", dead));
    (void)state;
}

static void large_output_is_whole(void **state)
{
    (void)state;
    inv_outfile *f;
    assert_int_equal(inv_outfile_open(in_directory("big"), &f, NULL), INVIT_OK);
    char *block = malloc(1000000);
    memset(block, 'x', 1000000);
    inv_outfile_write(f, block, 1000000);
    for (int i = 0; i < 100000; i++) {
        char *space = inv_outfile_reserve(f, 3);
        memcpy(space, "ab\n", 3);
        inv_outfile_advance(f, 3);
    }
    block[9999] = 0;
    inv_outfile_printf(f, "%s", block); /* longer than the reserve */
    free(block);
    assert_int_equal(inv_outfile_close(f, NULL), INVIT_OK);
    struct stat info;
    assert_int_equal(stat(in_directory("big"), &info), 0);
    assert_int_equal(info.st_size, 1000000 + 300000 + 9999);
}

static void a_full_disk_is_an_error(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    assert_int_equal(inv_outfile_open("/dev/full", &f, &err), INVIT_OK);
    inv_outfile_puts(f, "text");
    assert_int_equal(inv_outfile_close(f, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "/dev/full"));
    assert_non_null(strstr(err.message, "No space left"));
}

/* A file size limit stands for a disk that fills up in the middle. */
static void a_disk_that_fills_up_leaves_nothing(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    struct rlimit before, limit;
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    limit = before;
    limit.rlim_cur = 100000;
    assert_int_equal(inv_outfile_open(in_directory("a"), &f, &err), INVIT_OK);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    for (int i = 0; i < 100000; i++) inv_outfile_puts(f, "0123456789");
    invit_status status = inv_outfile_close(f, &err);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(status, INVIT_ERR_IO);
    assert_int_equal(entries(), 0);
}

static void a_closed_pipe_is_an_error(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    int ends[2];
    char path[64];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[1]);
    assert_int_equal(inv_outfile_open(path, &f, &err), INVIT_OK);
    close(ends[0]);
    inv_outfile_puts(f, "text");
    assert_int_equal(inv_outfile_close(f, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "Broken pipe"));
    close(ends[1]);
}

static void a_killed_process_leaves_nothing(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    pid_t child = fork();
    if (child == 0) {
        if (inv_outfile_open(in_directory("a"), &f, &err) != INVIT_OK) _exit(1);
        for (int i = 0; i < 100000; i++) inv_outfile_puts(f, "0123456789");
        raise(SIGKILL);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    /* what a file system without nameless files kept is gone after the next write of that name */
    assert_int_equal(inv_outfile_open(in_directory("a"), &f, &err), INVIT_OK);
    inv_outfile_puts(f, "text");
    assert_int_equal(inv_outfile_close(f, &err), INVIT_OK);
    assert_int_equal(entries(), 1);
}

static void a_link_to_nothing_is_refused(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    assert_int_equal(symlink("nowhere", in_directory("link")), 0);
    assert_int_equal(inv_outfile_open(in_directory("link"), &f, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "does not exist"));
    assert_int_equal(entries(), 1);
}

/* Only root can make a link in another user's name. */
static void a_link_of_another_user_is_refused(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    char target[512];
    if (geteuid() != 0) skip();
    appears_only_when_closed(state);
    strcpy(target, in_directory("a"));
    assert_int_equal(symlink(target, in_directory("link")), 0);
    assert_int_equal(lchown(in_directory("link"), 65534, 65534), 0);
    assert_int_equal(inv_outfile_open(in_directory("link"), &f, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "another user"));
    assert_int_equal(mkdir(in_directory("folder"), 0777), 0);
    strcpy(target, in_directory("folder"));
    assert_int_equal(symlink(target, in_directory("lists")), 0);
    assert_int_equal(lchown(in_directory("lists"), 65534, 65534), 0);
    assert_int_equal(inv_outfile_check_link(in_directory("lists/"), &err), INVIT_ERR_IO);
    assert_int_equal(inv_outfile_check_link(in_directory("folder/"), &err), INVIT_OK);
    assert_int_equal(rmdir(in_directory("folder")), 0);
    assert_int_equal(inv_outfile_check_link("/dev/stdout", &err), INVIT_OK); /* root's, or one's own */
}

/* Root may write everything, so somebody else tries, in a folder that everybody may write to. */
static void a_protected_file_is_not_replaced(void **state)
{
    (void)state;
    enum { NOBODY = 65534 };
    int made = open(in_directory("a"), O_WRONLY | O_CREAT, 0444);
    assert_true(made >= 0);
    close(made);
    assert_int_equal(chmod(directory, 0777), 0);
    pid_t child = fork();
    if (child == 0) {
        inv_outfile *f;
        if (getuid() == 0 && setuid(NOBODY) != 0) _exit(2);
        if (inv_outfile_open(in_directory("b"), &f, NULL) != INVIT_OK) _exit(3); /* beside it they may */
        inv_outfile_abandon(f);
        _exit(inv_outfile_open(in_directory("a"), &f, NULL) == INVIT_ERR_IO ? 0 : 4);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    assert_int_equal(entries(), 1);
}

static void bad_paths_are_named(void **state)
{
    (void)state;
    inv_outfile *f;
    invit_error err;
    assert_int_equal(inv_outfile_open("/no/such/place/x", &f, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "/no/such/place/x"));
    assert_int_equal(inv_outfile_open(directory, &f, &err), INVIT_ERR_IO);
    assert_non_null(strstr(err.message, "directory"));
}

int main(void)
{
#define WITH_DIRECTORY(f) cmocka_unit_test_setup_teardown(f, make_directory, remove_directory)
    const struct CMUnitTest tests[] = {
        WITH_DIRECTORY(a_killed_process_leaves_nothing),
        WITH_DIRECTORY(a_link_to_nothing_is_refused),
        WITH_DIRECTORY(a_link_of_another_user_is_refused),
        WITH_DIRECTORY(appears_only_when_closed),
        WITH_DIRECTORY(abandoned_output_leaves_the_old_file),
        WITH_DIRECTORY(links_and_modes_survive),
        WITH_DIRECTORY(leftovers_of_the_dead_are_removed),
        WITH_DIRECTORY(large_output_is_whole),
        cmocka_unit_test(a_full_disk_is_an_error),
        WITH_DIRECTORY(a_disk_that_fills_up_leaves_nothing),
        cmocka_unit_test(a_closed_pipe_is_an_error),
        WITH_DIRECTORY(bad_paths_are_named),
        WITH_DIRECTORY(a_protected_file_is_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
