package main

import (
	"bytes"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"testing"
	"time"
)

func TestCPUTime(t *testing.T) {
	// The time of a process tree includes children that have ended.
	t.Parallel()
	before := processTreeCPUSeconds(os.Getpid())

	if err := exec.Command("sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done").Run(); err != nil {
		t.Fatal(err)
	}

	if used := processTreeCPUSeconds(os.Getpid()) - before; used < 0.01 {
		t.Errorf("the process tree used %v s", used)
	}
	if try(func() { statOf(1 << 30) }) == nil {
		t.Error("a process that does not exist has used time")
	}
}

func TestBackendCPUTime(t *testing.T) {
	// The processor time of this process is found, and does not go back.
	t.Parallel()
	before := backendCPUTime(os.Getpid())
	for begin := time.Now(); time.Since(begin) < 50*time.Millisecond; {
	}
	if after := backendCPUTime(os.Getpid()); after < before || after == 0 {
		t.Errorf("%s, and then %s", before, after)
	}
	if try(func() { backendCPUTime(1 << 30) }) == nil {
		t.Error("a process that does not exist has used time")
	}
}

func TestCostOf(t *testing.T) {
	// The cost of one piece of work is the difference of the readings divided by their number;
	// other programs used the rest of the busy time.
	t.Parallel()
	begin := time.Unix(0, 0)
	from := reading{begin, [figureCount]float64{1, 2, 3, 100, 10, 20, 30, 40}}
	to := reading{begin.Add(10 * time.Second), [figureCount]float64{5, 8, 4, 115, 410, 220, 1030, 140}}

	got := costOf(from, to, 100)

	want := cost{each: [figureCount]float64{0.04, 0.06, 0.01, 0.15, 4, 2, 10, 1}, busy: 1.5, otherBusy: 0.4}
	if got != want {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if got := strings.Join(got.processorTimes(), ", "); got != "40000 µs, 60000 µs, 10000 µs" {
		t.Errorf("the service, Postgres and the generator used %s", got)
	}
}

func TestMeasureMemoryGrowth(t *testing.T) {
	// Memory used during the operation is measured, and memory used before is not.
	debug.FreeOSMemory()
	var used []byte
	const large = 64 << 20
	g := measureMemoryGrowth(os.Getpid(), func() { used = bytes.Repeat([]byte{1}, large) })
	if g.before <= 0 || g.peak-g.before < large/2 {
		t.Errorf("%+v: %d bytes were used", g, len(used))
	}
	if try(func() { measureMemoryGrowth(1<<30, func() {}) }) == nil {
		t.Error("the memory of a process that does not exist was measured")
	}
}
