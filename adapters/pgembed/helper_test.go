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
const helperModeEnv = "PGEMBED_TEST_DUTY"

func TestMain(m *testing.M) {
	switch duty := os.Getenv(helperModeEnv); duty {
	case "":
		code := m.Run()
		if dir, err := templateDir(); err == nil {
			_ = os.RemoveAll(dir)
		}
		os.Exit(code)
	case "hold": // run a server until told to stop
		os.Exit(runServerUntilStdinCloses(os.Args[1]))
	case "knock": // try to connect to a socket
		os.Exit(tryConnect(os.Args[1]))
	default:
		fmt.Println("unknown duty", duty)
		os.Exit(2)
	}
}

func runServerUntilStdinCloses(dir string) int {
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

func tryConnect(url string) int {
	conn, err := pgx.Connect(context.Background(), url)
	if err != nil {
		fmt.Println("failed:", strings.ReplaceAll(err.Error(), "\n", " | "))
		return 1
	}
	fmt.Println("in", conn.PgConn().PID())
	return 0
}

// helperProcess is another process at its duty.
type helperProcess struct {
	cmd       *exec.Cmd
	stdin     io.Closer
	firstLine string // its first line
}

// startHelper starts another process at a duty, as the user with a number (root: -1), and
// returns when it has said its first line.
func startHelper(t *testing.T, uid int, duty, arg string) *helperProcess {
	t.Helper()
	cmd := exec.Command(sharedTestBinary(t), arg)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), helperModeEnv+"="+duty)
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
	o := &helperProcess{cmd: cmd, stdin: stdin}
	t.Cleanup(o.kill)
	said, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the other process ended without a word: %v", err)
	}
	o.firstLine = strings.TrimSpace(said)
	return o
}

// postmasterPID is the process id of the server that the other process holds.
func (o *helperProcess) postmasterPID(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(o.firstLine, "up "))
	if err != nil {
		t.Fatalf("the other process did not come up: %s", o.firstLine)
	}
	return pid
}

func (o *helperProcess) kill() {
	_ = o.cmd.Process.Kill()
	_ = o.cmd.Wait()
}

// stop tells the other process to stop its server, and waits until it has.
func (o *helperProcess) stop(t *testing.T) {
	t.Helper()
	if err := errors.Join(o.stdin.Close(), o.cmd.Wait()); err != nil {
		t.Errorf("the other process did not end well: %v", err)
	}
}

// sharedTestBinary is a copy of the test program that any user may run. Another
// process writes it: while we have a program open for writing, a child that we
// fork meanwhile has it open too, and it cannot be run.
func sharedTestBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(sharedDir(t), "pgembed.test")
	self := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	if out, err := exec.Command("install", "-m", "0755", self, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// sharedDir is a folder that any user may enter. (t.TempDir is closed.)
func sharedDir(t *testing.T) string {
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

// dataDirOwnedBy is a data folder that belongs to a user.
func dataDirOwnedBy(t *testing.T, uid int) string {
	t.Helper()
	dir := filepath.Join(sharedDir(t), "data")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, uid, uid); err != nil {
		t.Fatal(err)
	}
	return dir
}

func requireRoot(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		t.Skip("needs root")
	}
}

// templateDir is a data folder after its first start. Most tests are about what comes
// later and work on a copy, which is quicker than another first start.
var templateDir = sync.OnceValues(func() (string, error) {
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

// initializedDir is a data folder of the test's own, in which there is a database.
func initializedDir(t *testing.T) string {
	t.Helper()
	from, err := templateDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "data")
	if out, err := exec.Command("cp", "-a", from, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// startServer starts a server that is stopped with the test.
func startServer(t *testing.T, o Options) *Server {
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

func stopServer(t *testing.T, s *Server) {
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

func execSQL(t *testing.T, conn *pgx.Conn, sql string) {
	t.Helper()
	if _, err := conn.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// queryValue is the one value that a query answers.
func queryValue[T any](t *testing.T, conn *pgx.Conn, sql string) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// insertRow commits a row that later starts must find.
func insertRow(t *testing.T, url string) {
	t.Helper()
	execSQL(t, connect(t, url), "CREATE TABLE kept (n int); INSERT INTO kept VALUES (42)")
}

func checkRow(t *testing.T, url string) {
	t.Helper()
	if got := queryValue[int](t, connect(t, url), "SELECT n FROM kept"); got != 42 {
		t.Errorf("kept %d, want 42", got)
	}
}

// checkStopped waits until no Postgres works on the data folder.
func checkStopped(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, clusterName)
	if err := awaitStopped(t.Context(), path, 20*time.Second); err != nil {
		t.Fatal(err)
	}
	if left := orphans(path); len(left) > 0 {
		t.Fatalf("processes %v still work on %s", left, dir)
	}
}
