package webhooks_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"causeway/core/event"
	"causeway/core/ident"
)

// receiverEnv makes the test program a receiver that accepts everything, so that its
// work is not counted as ours.
const receiverEnv = "CAUSEWAY_NOTIFY_RECEIVER"

func TestMain(m *testing.M) {
	if os.Getenv(receiverEnv) != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(listener.Addr())
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }() // our parent ended
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	}
	os.Exit(m.Run())
}

// BenchmarkDispatch takes events from the queue to a receiver in another process and
// back into the log. Besides time it reports the processor time of this process and
// of the session's Postgres backend for each delivery.
func BenchmarkDispatch(b *testing.B) {
	w := furnish(b)
	p := w.platform("http://" + otherProcess(b) + "/")
	count := &counter{all: make(chan struct{}), wanted: int64(b.N)}
	for done := 0; done < b.N; done += 300 {
		w.append(w.events(p, 100)[:min(300, b.N-done)])
	}
	n := w.dispatcher("bench", count)
	stop := start(n)
	began := processorTime(b)
	b.ResetTimer()

	<-count.all
	b.StopTimer()
	used := processorTime(b) - began
	backend := backendTime(b, w, "bench")
	stop()
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "µs-own-cpu/op")
	b.ReportMetric(float64(backend.Microseconds())/float64(b.N), "µs-db-cpu/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	w.delivered(p, b.N)
}

// counter is a meter that tells when enough is delivered.
type counter struct {
	delivered atomic.Int64
	wanted    int64
	all       chan struct{}
}

func (c *counter) Delivered(time.Duration) {
	if c.delivered.Add(1) == c.wanted {
		close(c.all)
	}
}
func (*counter) Attempted(event.Outcome, time.Duration) {}
func (*counter) Parked()                                {}
func (*counter) Paused(ident.Platform, event.Outcome)   {}
func (*counter) Resumed(ident.Platform)                 {}
func (*counter) Disconnected(error)                     {}

// otherProcess is the address of a receiver in a process of its own.
func otherProcess(b *testing.B) string {
	command := exec.Command(os.Args[0])
	command.Env = append(os.Environ(), receiverEnv+"=1")
	stdin, err := command.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	stdout, err := command.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := command.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = stdin.Close(); _ = command.Wait() })
	address, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		b.Fatal(err)
	}
	return strings.TrimSpace(address)
}

// processorTime is what this process has used so far.
func processorTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// backendTime is what the backend of a session has used, if it runs on this machine.
func backendTime(b *testing.B, w *whole, name string) time.Duration {
	var pid int
	if err := w.pool.QueryRow(context.Background(), `
		SELECT pid FROM pg_stat_activity WHERE application_name = $1 AND datname = current_database()`, name).Scan(&pid); err != nil {
		b.Fatal(err)
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond // a hundred ticks a second on Linux
}
