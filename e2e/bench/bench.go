package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"causeway/adapters/pgembed"
	"causeway/e2e/kit"
)

// bench is one run: a private Postgres with the settings of causeway dev, the service, a platform
// that uses it with its webhook endpoint, and what was measured.
type bench struct {
	options
	folder        string // removed at the end
	postgres      *pgembed.Server
	service       *service
	pprofAddress  string // of the service's profiles, if they are wanted
	platform      platform
	receiver      *receiver
	webhookSecret string // that webhooks are signed with
	meter         *meter
	services      []*service     // all that may run
	stops         []func() error // what stopAll calls after stopping them, in reverse order

	customers      []*customer    // of the platform
	sizesBefore    []tableSize    // of the tables, before any load
	done           map[kind]int64 // pieces of work
	pgbenchURL     string         // of its database, once it is made
	baselines      []float64      // transactions per second of pgbench
	rampsPerSecond float64
	earlierPeak    byteSize // memory of the service before its maximum was reset
	report         report
}

func run(ctx context.Context, o options) (err error) {
	b := &bench{options: o, done: map[kind]int64{}, report: report{}}
	defer func() { err = errors.Join(err, b.stopAll()) }()
	if err := try(func() { b.measureAll(ctx) }); err != nil {
		return b.withDiagnostics(ctx, err)
	}
	if o.partial() {
		_, err = fmt.Print(b.report)
		return err
	}
	logf("writing %s", o.reportPath)
	return os.WriteFile(o.reportPath, []byte(b.report.String()), 0o644)
}

// measureAll measures every part that is included.
func (b *bench) measureAll(ctx context.Context) {
	b.binary = must(filepath.Abs(b.binary))
	if _, err := os.Stat(b.binary); err != nil {
		failf("there is no program to measure; run make build first: %w", err)
	}
	b.folder = must(os.MkdirTemp(diskFolder(), "causeway-bench-"))
	if b.includes("start") {
		b.measureStart(ctx)
	}
	if b.includes("rails") {
		b.measureRails(ctx)
	}
	if b.part == "start" || b.part == "rails" {
		return
	}
	b.prepare(ctx)
	b.warmUp(ctx)
	if b.part == "exports" || b.part == "check" || b.part == "beside" {
		b.runPhase(ctx, phase{name: "ramps to fill the ledger", inFlight: b.inFlight, kind: ramps, duration: b.long()})
	}
	b.runParts(ctx, []part{
		{"ramps half", b.measureRamps},
		{"alone", b.measureAlone},
		{"payouts agents wallets transfers-out transfers-in concurrency", b.measureOtherLoads},
		{"hot", b.compareOneAccount},
		{"agents", b.compareAgents},
		{"agent-hot", b.measureAgentLimit},
		{"half", b.measureHalfRate},
		{"rail", b.compareFewCustomers},
		{"platforms", b.comparePlatforms},
		{"quotes", b.measureQuotes},
	})
	if b.part != "" || !b.partial() {
		b.runParts(ctx, []part{
			{"exports", b.measureExports},
			{"standby", b.measureStandby},
			{"customers", b.measureCustomers},
			{"beside", b.measureBeside},
			{"proof reconciliation statements exchange months", b.measurePastMonth},
			{"books", b.measureBooks},
			{"large-ledger", b.measureLargeLedger},
			{"console", b.measureConsole},
		})
	}
	b.checkAfterwards(ctx)
}

// part is a measurement and the values of --only that include it.
type part struct {
	names   string
	measure func(context.Context)
}

func (b *bench) runParts(ctx context.Context, parts []part) {
	for _, p := range parts {
		if b.includes(strings.Fields(p.names)...) {
			p.measure(ctx)
		}
	}
}

// The durations of phases, from --seconds.
func (b *bench) long() time.Duration  { return time.Duration(b.seconds) * time.Second }
func (b *bench) brief() time.Duration { return max(2*time.Second, b.long()/4) }

// measureStart measures how long causeway dev takes to start twice on one new folder.
func (b *bench) measureStart(ctx context.Context) {
	logf("starting the service twice on a new folder")
	var slowestStop time.Duration
	for _, start := range []struct {
		name string
		goal goal
	}{{"First start of `causeway dev`, until ready", goalFirstStart}, {"Second start, until ready", goalSecondStart}} {
		address, began := must(kit.FreeAddress()), time.Now()
		args := []string{"dev", "--no-demo", "--listen", address, "--data", filepath.Join(b.folder, "dev")}
		dev := must(kit.Start(kit.Command{Program: b.binary, Args: args}))
		err := dev.AwaitReady(ctx, "http://"+address)
		took, stopping := time.Since(began), time.Now()
		check(err, dev.Stop(stopTimeout))
		slowestStop = max(slowestStop, time.Since(stopping))
		b.report.add(memoryAndStart, start.name, took, judge(start.goal, took))
	}
	b.report.add(memoryAndStart, "Stop, Postgres included", slowestStop)
}

// prepare starts everything and creates the customers.
func (b *bench) prepare(ctx context.Context) {
	logf("starting Postgres and the service")
	postgres := pgembed.Options{Dir: filepath.Join(b.folder, "data"), Settings: map[string]string{
		"shared_preload_libraries": "pg_stat_statements", "pg_stat_statements.track_utility": "off"}}
	var settings []string
	if b.profileDir != "" {
		// Counting statements makes everything slower: a run with profiles is not for comparing figures.
		postgres.Settings["pg_stat_statements.track"], postgres.Settings["pg_stat_statements.track_utility"] = "all", "on"
		b.pprofAddress = must(kit.FreeAddress())
		settings = []string{"CAUSEWAY_ADMIN_LISTEN=" + b.pprofAddress}
	}
	b.receiver = startReceiver()
	b.stops = append(b.stops, b.receiver.listener.Close)
	b.postgres = must(pgembed.Start(ctx, postgres))
	b.stops = append(b.stops, func() error {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		return b.postgres.Stop(ctx)
	})
	b.service = b.newService(ctx, b.postgres.URL(), settings...)
	b.platform = b.service.createPlatform(ctx)
	b.service.start(ctx)
	b.meter = newMeter(ctx, b.postgres, b.service.process.PID())
	b.stops = append(b.stops, func() error { return b.meter.conn.Close(context.Background()) })
	b.meter.exec(ctx, "CREATE EXTENSION pg_stat_statements")
	b.trackStatements(ctx, "none")
	check(sleep(ctx, 3*time.Second))
	memory, own := byteSize(must(kit.Memory(b.service.process.PID(), "VmRSS"))), byteSize(must(kit.Memory(b.service.process.PID(), "RssAnon")))
	b.report.add(memoryAndStart, "Memory of the service at rest, before any load", own, judge(goalIdleMemory, own))
	b.report.add(memoryAndStart, "With the pages of the program's file, of which Linux maps more since 6.18", memory)
	b.addConditions()
	b.createCustomers(ctx)
	b.sizesBefore = b.tableSizes(ctx, b.meter.database, "%")
}

// warmUp lets the service prepare its statements and Postgres analyze its tables.
func (b *bench) warmUp(ctx context.Context) {
	kinds := map[string]kind{"quotes": unpaidQuotes, "payouts": payouts, "hot": payouts,
		"transfers-out": transfersOut, "transfers-in": transfersIn, "agents": agentPayouts, "agent-hot": agentTransfersOut,
		"wallets": walletPayouts}
	p := phase{name: "warm-up", inFlight: b.inFlight, kind: cmp.Or(kinds[b.part], ramps), duration: 4 * time.Second}
	b.runPhase(ctx, p)
	b.meter.execIn(ctx, b.meter.database, "ANALYZE")
	p.name, p.duration = "warm-up after ANALYZE", 2*time.Second
	b.runPhase(ctx, p)
}

// stopAll stops everything that was started, and removes the folder.
func (b *bench) stopAll() error {
	var errs []error
	for _, s := range b.services {
		errs = append(errs, s.stop())
	}
	for _, stop := range slices.Backward(b.stops) {
		errs = append(errs, stop())
	}
	return errors.Join(append(errs, os.RemoveAll(b.folder))...)
}

// withDiagnostics adds what was done and received to an error, and the end of each service's log.
func (b *bench) withDiagnostics(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if b.receiver != nil {
		err = fmt.Errorf("%w\ndone: %v; received: %v", err, b.done, b.receiver.eventCounts())
	}
	for _, s := range b.services {
		if s.process != nil {
			err = fmt.Errorf("%w\nthe last output of %s:\n%s", err, s.process.Command, s.process.Tail())
		}
	}
	return err
}

// sleep waits for a duration, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
