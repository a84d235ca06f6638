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
	"causeway/core/platform"
)

// receiverEnv makes the test program an endpoint that accepts everything, so that the benchmark does
// not count its CPU time.
const receiverEnv = "CAUSEWAY_WEBHOOK_RECEIVER"

func TestMain(m *testing.M) {
	if os.Getenv(receiverEnv) != "" {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			panic(err)
		}
		fmt.Println(listener.Addr())
		go func() { _, _ = io.Copy(io.Discard, os.Stdin); os.Exit(0) }() // the parent process ended
		_ = http.Serve(listener, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	}
	os.Exit(m.Run())
}

// BenchmarkService_Run delivers queued events to an endpoint in another process and records them, with
// different signatures. For each delivery it reports the CPU time of this process and of the
// session's Postgres backend.
func BenchmarkService_Run(b *testing.B) {
	for name, signatures := range map[string]platform.WebhookSignatures{
		"HMAC": {HMAC: true}, "default": platform.DefaultWebhookSignatures, "all": {ECDSA: true, HMAC: true, Ed25519: true},
	} {
		b.Run(name, func(b *testing.B) { benchmarkRun(b, signatures) })
	}
}

func benchmarkRun(b *testing.B, signatures platform.WebhookSignatures) {
	env := newTestEnv(b)
	endpoint := "http://" + startReceiverProcess(b) + "/"
	p := env.NewPlatform(func(p *platform.Platform) { p.WebhookEndpoint, p.WebhookSignatures = endpoint, signatures }).ID
	if _, err := env.newSecretService().CreateSecret(b.Context(), p, platform.Service, nil, 0); err != nil {
		b.Fatal(err)
	}
	counter := &deliveryCounter{done: make(chan struct{}), wanted: int64(b.N)}
	for done := 0; done < b.N; done += 300 {
		env.appendRows(env.newRows(p, 100)[:min(300, b.N-done)])
	}
	service := env.newService("bench", counter)
	stop := startService(service)
	before := cpuTime(b)
	b.ResetTimer()

	<-counter.done
	b.StopTimer()
	used := cpuTime(b) - before
	backend := backendCPUTime(b, env, "bench")
	stop()
	b.ReportMetric(float64(used.Microseconds())/float64(b.N), "µs-own-cpu/op")
	b.ReportMetric(float64(backend.Microseconds())/float64(b.N), "µs-db-cpu/op")
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "deliveries/s")
	env.checkDelivered(p, b.N)
}

// deliveryCounter counts deliveries and closes done when enough are made.
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
func (*deliveryCounter) InternalError(ident.Platform, string)   {}
func (*deliveryCounter) Paused(ident.Platform, event.Outcome)   {}
func (*deliveryCounter) Resumed(ident.Platform)                 {}
func (*deliveryCounter) Disconnected(error)                     {}

// startReceiverProcess starts an endpoint in another process and returns its address.
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

// cpuTime returns the CPU time that this process has used.
func cpuTime(b *testing.B) time.Duration {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		b.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// backendCPUTime returns the CPU time that the backend of a session has used, or zero if it does not
// run on this machine.
func backendCPUTime(b *testing.B, env *testEnv, name string) time.Duration {
	var pid int
	if err := env.Store.Pool().QueryRow(context.Background(), `
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
	return time.Duration(user+system) * 10 * time.Millisecond // 100 ticks a second on Linux
}
