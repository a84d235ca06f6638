package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"causeway/e2e/kit"
)

const (
	standbyRounds = 3
	// standbyQuotes is how many quotes a second are made meanwhile: a moderate load for one processor.
	standbyQuotes = 40
	// Processors of the programs that are measured, and of those that read.
	measuredProcessor, readingProcessor = "0", "1"
)

// readsOfStandby is a service with a database of its own, on a primary with a standby.
type readsOfStandby struct {
	*bench  // with the service, its platform and its customers
	primary *kit.Postgres
	standby *kit.Postgres
}

// measureStandby measures quotes while nobody reads, and while all postings are exported and the ledger is checked again and again, from
// the primary or from a standby. The programs that read and the standby have a processor of their own, and all others another one, so
// that two processors stand for two machines.
func (b *bench) measureStandby(ctx context.Context) {
	if runtime.NumCPU() < 2 {
		logf("reads from a standby need two processors")
		return
	}
	pin(ctx, os.Getpid(), measuredProcessor)
	defer pin(ctx, os.Getpid(), "0-"+strconv.Itoa(runtime.NumCPU()-1))
	r := b.newReadsOfStandby(ctx)
	r.runPhase(ctx, phase{name: "ramps to fill the ledger", inFlight: b.inFlight, kind: ramps, duration: 2 * b.long()})
	check(r.standby.CatchUp(ctx, r.primary))

	cases := []struct {
		name string
		from *kit.Postgres
	}{{"nobody reads", nil}, {"an export and a check read the primary", r.primary}, {"an export and a check read a standby", r.standby}}
	quoted, reads := make([][]latency, len(cases)), make([]int64, len(cases))
	for round := range standbyRounds {
		for i := range cases {
			i = (i + round) % len(cases) // other load on the machine affects all
			times, n := r.quotesWhileReading(ctx, cases[i].name, cases[i].from)
			quoted[i], reads[i] = append(quoted[i], times), reads[i]+n
		}
	}
	alone := medians(quoted[0])
	for i, c := range cases {
		times := medians(quoted[i])
		b.report.add(readsBeside, "Quotes while "+c.name, times, ratio(float64(times.p99)/float64(alone.p99)), reads[i])
	}
}

// medians returns the median of each figure of several runs.
func medians(runs []latency) latency {
	of := func(figure func(latency) time.Duration) time.Duration {
		values := make([]float64, len(runs))
		for i, run := range runs {
			values[i] = float64(figure(run))
		}
		return time.Duration(median(values))
	}
	return latency{of(func(l latency) time.Duration { return l.p50 }), of(func(l latency) time.Duration { return l.p95 }),
		of(func(l latency) time.Duration { return l.p99 }), of(func(l latency) time.Duration { return l.max })}
}

func (b *bench) newReadsOfStandby(ctx context.Context) readsOfStandby {
	logf("starting a primary with a standby")
	side := *b
	side.done, side.receiver = map[kind]int64{}, startReceiver()
	r := readsOfStandby{bench: &side}
	b.stops = append(b.stops, side.receiver.listener.Close)
	started := func(p *kit.Postgres, err error) *kit.Postgres {
		check(err)
		b.stops = append(b.stops, func() error { return p.Stop(stopTimeout) })
		return p
	}
	const traverse = 0o711 // by the user of the servers
	check(os.Chmod(b.folder, traverse))
	r.primary = started(kit.CreatePostgres(ctx, filepath.Join(b.folder, "primary")))
	side.service = b.newService(ctx, r.primary.URL())
	memory := must(os.MkdirTemp("/dev/shm", "causeway-bench-")) // in place of a disk of its own
	b.stops = append(b.stops, func() error { return os.RemoveAll(memory) })
	check(os.Chmod(memory, traverse))
	r.standby = started(r.primary.NewStandby(ctx, filepath.Join(memory, "standby"), "standby"))
	pin(ctx, r.standby.Process.PID(), readingProcessor)
	side.platform = side.service.createPlatform(ctx)
	side.service.start(ctx)
	side.createCustomers(ctx)
	return r
}

// quotesWhileReading returns the times of quotes while a database is read, and how often it was read whole; nil is none.
func (r readsOfStandby) quotesWhileReading(ctx context.Context, name string, from *kit.Postgres) (times latency, reads int64) {
	var readers errgroup.Group
	var done atomic.Int64
	reading, stop := context.WithCancel(ctx)
	defer stop()
	read := func(args ...string) {
		readers.Go(func() error {
			for reading.Err() == nil {
				c := kit.Command{Program: "taskset", Args: append([]string{"--cpu-list", readingProcessor, r.binary}, args...),
					Env: []string{"DATABASE_URL=" + r.urlOf(from)}}
				if _, err := kit.MustSucceed(reading, c); err != nil && reading.Err() == nil {
					return err
				}
				done.Add(1)
			}
			return nil
		})
	}
	if from != nil {
		read("ledger", "export", "--format", "csv", "--file", os.DevNull)
		read("ledger", "check")
	}
	m := r.runPhase(ctx, phase{name: "quotes while " + name, kind: unpaidQuotes, inFlight: 64, rate: standbyQuotes, warmUp: 2 * time.Second,
		duration: r.long()})
	stop()
	check(readers.Wait())
	return m.quote, done.Load()
}

// urlOf returns the URL of the service's database at a server, for its owner.
func (r readsOfStandby) urlOf(at *kit.Postgres) string {
	address := must(url.Parse(r.service.databaseURL))
	address.Host = at.Address
	return address.String()
}

// pin lets the threads of a process, its children and what they start run on some processors only.
func pin(ctx context.Context, pid int, processors string) {
	children := must(os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid)))
	pids := append([]string{strconv.Itoa(pid)}, strings.Fields(string(children))...)
	for _, p := range pids {
		// A child may have ended meanwhile.
		_, err := kit.MustSucceed(ctx, kit.Command{Program: "taskset", Args: []string{"--all-tasks", "--cpu-list", "--pid", processors, p}})
		if p == pids[0] {
			check(err)
		}
	}
}
