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

// Some tests need another process or another user. They start the test binary in one of these
// modes.
const helperModeEnv = "PGEMBED_TEST_MODE"

func TestMain(m *testing.M) {
	switch mode := os.Getenv(helperModeEnv); mode {
	case "":
		removeFiles := useMemoryForFiles()
		code := m.Run()
		if dir, err := templateDir(); err == nil {
			_ = os.RemoveAll(dir)
		}
		removeFiles()
		os.Exit(code)
	case "serve": // run a server until stdin is closed
		os.Exit(runServerUntilStdinCloses(os.Args[1]))
	case "connect": // try to connect to a socket
		os.Exit(tryConnect(os.Args[1]))
	default:
		fmt.Println("unknown mode", mode)
		os.Exit(2)
	}
}

// useMemoryForFiles makes the tests create their many clusters in memory if there is enough of
// it, because disks make them slow. It returns a function that removes the files.
func useMemoryForFiles() (remove func()) {
	const enough = 4 << 30
	var fs syscall.Statfs_t
	if err := syscall.Statfs("/dev/shm", &fs); err != nil || fs.Bavail*uint64(fs.Bsize) < enough {
		return func() {}
	}
	dir, err := os.MkdirTemp("/dev/shm", "pgembed-")
	if err != nil {
		return func() {}
	}
	_ = os.Chmod(dir, 0o755) // other users run some of the servers
	_ = os.Setenv("TMPDIR", dir)
	return func() { _ = os.RemoveAll(dir) }
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

// helperProcess is a running helper process.
type helperProcess struct {
	cmd       *exec.Cmd
	stdin     io.Closer
	firstLine string // of its output
}

// startHelper starts a helper process in a mode, as the user with the given uid or, for -1, as the
// current user. It returns after the first line of output.
func startHelper(t *testing.T, uid int, mode, arg string) *helperProcess {
	t.Helper()
	cmd := exec.Command(sharedTestBinary(t), arg)
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), helperModeEnv+"="+mode)
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
	h := &helperProcess{cmd: cmd, stdin: stdin}
	t.Cleanup(h.kill)
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("the helper process exited without output: %v", err)
	}
	h.firstLine = strings.TrimSpace(line)
	return h
}

// postmasterPID returns the process id of the helper's server.
func (h *helperProcess) postmasterPID(t *testing.T) int {
	t.Helper()
	pid, err := strconv.Atoi(strings.TrimPrefix(h.firstLine, "up "))
	if err != nil {
		t.Fatalf("the helper process did not start its server: %s", h.firstLine)
	}
	return pid
}

func (h *helperProcess) kill() {
	_ = h.cmd.Process.Kill()
	_ = h.cmd.Wait()
}

// stop stops the helper's server and waits for the helper to exit.
func (h *helperProcess) stop(t *testing.T) {
	t.Helper()
	if err := errors.Join(h.stdin.Close(), h.cmd.Wait()); err != nil {
		t.Errorf("the helper process failed: %v", err)
	}
}

// sharedTestBinary returns a copy of the test binary that any user may run. Another process
// writes it, because a child forked while a binary is open for writing inherits the handle, and
// the binary cannot be run until that is closed.
func sharedTestBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(sharedDir(t), "pgembed.test")
	self := fmt.Sprintf("/proc/%d/exe", os.Getpid())
	if out, err := exec.Command("install", "-m", "0755", self, path).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// sharedDir returns a temporary folder that any user may enter, unlike t.TempDir.
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

// dataDirOwnedBy returns a data folder that belongs to a user.
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

// templateDir returns a data folder after its first start. Most tests use a copy, which is faster
// than another first start.
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

// initializedDir returns a new data folder that contains a database.
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

// startServer starts a server and stops it when the test ends.
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

// connect opens a connection and closes it when the test ends.
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

// queryValue returns the single value of a query.
func queryValue[T any](t *testing.T, conn *pgx.Conn, sql string) (value T) {
	t.Helper()
	if err := conn.QueryRow(t.Context(), sql).Scan(&value); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return value
}

// insertRow commits a row that checkRow expects.
func insertRow(t *testing.T, url string) {
	t.Helper()
	execSQL(t, connect(t, url), "CREATE TABLE saved (n int); INSERT INTO saved VALUES (42)")
}

func checkRow(t *testing.T, url string) {
	t.Helper()
	if got := queryValue[int](t, connect(t, url), "SELECT n FROM saved"); got != 42 {
		t.Errorf("got %d, want 42", got)
	}
}

// checkStopped waits until no Postgres process of the data folder is left.
func checkStopped(t *testing.T, dir string) {
	t.Helper()
	path := filepath.Join(dir, clusterName)
	if err := awaitStopped(t.Context(), path, 3*time.Minute); err != nil {
		t.Fatal(err)
	}
	if pids := orphans(path); len(pids) > 0 {
		t.Fatalf("processes %v are still running on %s", pids, dir)
	}
}
