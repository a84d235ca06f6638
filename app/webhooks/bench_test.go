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

// BenchmarkService_Run takes events from the queue to a receiver in another process and
// back into the log. Besides time it reports the processor time of this process and
// of the session's Postgres backend for each delivery.
func BenchmarkService_Run(b *testing.B) {
	w := newTestEnv(b)
	p := w.createPlatform("http://" + startReceiverProcess(b) + "/")
	count := &deliveryCounter{done: make(chan struct{}), wanted: int64(b.N)}
	for done := 0; done < b.N; done += 300 {
		w.appendRows(w.newRows(p, 100)[:min(300, b.N-done)])
	}
	n := w.newService("bench", count)
	stop := startService(n)
	began := cpuTime(b)
	b.ResetTimer()

	<-count.done
	b.StopTimer()
	used := cpuTime(b) - began
	backend := backendCPUTime(b, w, "bench")
	stop()
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "µs-own-cpu/op")
	b.ReportMetric(float64(backend.Microseconds())/float64(b.N), "µs-db-cpu/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	w.checkDelivered(p, b.N)
}

// deliveryCounter is a meter that tells when enough is delivered.
type deliveryCounter struct {
	delivered atomic.Int64
	wanted    int64
	done      chan struct{}
}

func (c *deliveryCounter) Delivered(time.Duration) {
	if c.delivered.Add(1) == c.wanted {
		close(c.done)
	}
}
func (*deliveryCounter) Attempted(event.Outcome, time.Duration) {}
func (*deliveryCounter) Abandoned()                             {}
func (*deliveryCounter) Paused(ident.Platform, event.Outcome)   {}
func (*deliveryCounter) Resumed(ident.Platform)                 {}
func (*deliveryCounter) Disconnected(error)                     {}

// startReceiverProcess is the address of a receiver in a process of its own.
func startReceiverProcess(b *testing.B) string {
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

// cpuTime is what this process has used so far.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// backendCPUTime is what the backend of a session has used, if it runs on this machine.
func backendCPUTime(b *testing.B, w *testEnv, name string) time.Duration {
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
