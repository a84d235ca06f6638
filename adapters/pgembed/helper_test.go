package pgembed

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
)

// Some tests need another process, or another user: the test program itself,
// started with one of these duties.
const dutyEnv = "PGEMBED_TEST_DUTY"

func TestMain(m *testing.M) {
	switch duty := os.Getenv(dutyEnv); duty {
	case "":
		code := m.Run()
		if dir, err := original(); err == nil {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	case "hold": // run a server until told to stop
		os.Exit(hold(os.Args[1]))
	case "knock": // try to connect to a socket
		os.Exit(knock(os.Args[1]))
	default:
		fmt.Println("unknown duty", duty)
		os.Exit(2)
	}
}

func hold(dir string) int {
	s, err := Start(context.Background(), Options{Dir: dir})
	if err != nil {
		fmt.Println("failed:", strings.ReplaceAll(err.Error(), "\n", " | "))
		return 1
	}
	fmt.Println("up", s.process.Pid)
	_, _ = io.Copy(io.Discard, os.Stdin)
	if err := s.Stop(context.Background()); err != nil {
		fmt.Println("failed:", err)
		return 1
	}
	return 0
}

func knock(url string) int {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		fmt.Println("failed:", strings.ReplaceAll(err.Error(), "\n", " | "))
		return 1
	}
	fmt.Println("in", conn.PgConn().PID())
	return 0
}

// other is another process at its duty.
type other struct {
	cmd   *exec.Cmd
	stdin io.Closer
	said  string // its first line
}

// as starts another process at a duty, as the user with a number (root: -1), and
// returns when it has said its first line.
func as(t *testing.T, uid int, duty, arg string) *other {
	t.Helper()
	cmd := exec.Command(everyonesProgram(t), arg)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), dutyEnv+"="+duty)
	if uid >= 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
	}
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	o := &other{cmd: cmd, stdin: stdin}
	t.Cleanup(o.kill)
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the other process ended without a word: %v", err)
	}
	o.said = strings.TrimSpace(said)
	return o
}

// postmaster is the process id of the server that the other process holds.
func (o *other) postmaster(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(o.said, "up "))
	if err != nil {
		t.Fatalf("the other process did not come up: %s", o.said)
	}
	return pid
}

func (o *other) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// release tells the other process to stop its server, and waits until it has.
func (o *other) release(t *testing.T) {
	t.Helper()
	if err := errors.Join(o.stdin.Close(), o.cmd.Wait()); err != nil {
		t.Errorf("the other process did not end well: %v", err)
	}
}

// everyonesProgram is a copy of the test program that any user may run. Another
// process writes it: while we have a program open for writing, a child that we
// fork meanwhile has it open too, and it cannot be run.
func everyonesProgram(t *testing.T) string {
	t.Helper()
	path := filepath.Join(everyonesFolder(t), "pgembed.test")
	self := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	if out, err := exec.Command("install", "-m", "0755", self, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// everyonesFolder is a folder that any user may enter. (t.TempDir is closed.)
func everyonesFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pgembed-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	return dir
}

// folderOf is a data folder that belongs to a user.
func folderOf(t *testing.T, uid int) string {
	t.Helper()
	dir := filepath.Join(everyonesFolder(t), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	return dir
}

func asRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// original is a data folder after its first start. Most tests are about what comes
// later and work on a copy, which is quicker than another first start.
var original = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "pgembed-original-")
	if err != nil {
		return "", err
	}
	s, err := Start(context.Background(), Options{Dir: dir})
	if err != nil {
		return "", err
	}
	return dir, s.Stop(context.Background())
})

// madeFolder is a data folder of the test's own, in which there is a database.
func madeFolder(t *testing.T) string {
	t.Helper()
	from, err := original()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command("cp", "-a", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// start starts a server that is stopped with the test.
func start(t *testing.T, o Options) *Server {
	t.Helper()
	s, err := Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return s
}

func stop(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// connect opens a connection that is closed with the test.
func connect(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close(context.Background()) })
	return conn
}

func exec1(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// ask is the one value that a query answers.
func ask[T any](t *testing.T, conn *pgx.Conn, sql string) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// write commits a row that later starts must find.
func write(t *testing.T, url string) {
	t.Helper()
	exec1(t, connect(t, url), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)")
}

func mustHoldWhatWasWritten(t *testing.T, url string) {
	t.Helper()
	if got := ask[int](t, connect(t, url), "SELECT n FROM kept"); got != 42 {
		t.Errorf("kept %d, want 42", got)
	}
}

// mustEmpty waits until no Postgres works on the data folder.
func mustEmpty(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, clusterName)
	if err := awaitNone(t.Context(), path, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if left := leftovers(path); len(left) > 0 {
		t.Fatalf("processes %v still work on %s", left, dir)
	}
}
