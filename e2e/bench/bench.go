package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// bench is one run.
type bench struct {
	options
	env        benchEnv
	customers  []customer
	doneByKind [kindCount]int64 // so far
	baseline   pgbench          // once it is made
	results
}

// results are everything a run finds. What was not measured is zero.
type results struct {
	financeResults
	machine                   machine
	startedAt                 time.Time
	options                   options
	startup                   startup
	idleMemory                int64
	baselineTPS               []float64 // transactions per second: before and after the ramps, and after payouts and transfers
	mainPhase                 measurement
	otherConcurrencies        []measurement // the same with other numbers in flight
	halfLoad                  measurement
	hotRail                   railComparison
	quotesOnly                measurement // quotes alone
	payouts                   []measurement
	transfersOut, transfersIn measurement // transfers
	hotAccount                accountComparison
	finalChecks               finalChecks
}

// railComparison compares many customers with few, in ramps per second of each short run.
type railComparison struct{ many, few []float64 }

// accountComparison compares payouts from many accounts with payouts from one, in the same way.
type accountComparison struct{ many, one []float64 }

func run(ctx context.Context, o options) (err error) {
	disk, err := diskFolder()
	if err != nil {
		return err
	}
	if o.binary, err = filepath.Abs(o.binary); err != nil {
		return err
	}
	if _, err := os.Stat(o.binary); err != nil {
		return fmt.Errorf("there is no program to measure; run make build first: %w", err)
	}
	folder, err := os.MkdirTemp(disk, "causeway-bench-")
	if err != nil {
		return err
	}
	b := &bench{options: o, env: benchEnv{folder: folder}}
	defer func() { err = errors.Join(err, b.env.stop()) }()
	b.results.startedAt, b.results.options = time.Now().UTC(), o

	if o.includesPart("start") {
		logf("starting the service twice on a fresh folder")
		if b.startup, err = measureStartup(ctx, o, folder); err != nil {
			return err
		}
		if o.part == "start" {
			return b.results.writeTerminal(os.Stdout)
		}
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if err := b.measureParts(ctx); err != nil {
		return b.withDiagnostics(ctx, err)
	}
	logf("waiting for the last webhooks, checking signatures and books")
	if b.finalChecks, err = b.checkAfterLoad(ctx); err != nil {
		return b.withDiagnostics(ctx, err)
	}
	if err := b.results.writeTerminal(os.Stdout); err != nil || o.partial() {
		return err
	}
	return b.results.writeFile(o.reportPath)
}

// prepare brings everything up.
func (b *bench) prepare(ctx context.Context) error {
	logf("starting Postgres and the service")
	err := b.env.start(ctx, b.options)
	if err != nil {
		return err
	}
	b.idleMemory = b.env.idleMemory
	version, err := postgresVersion(ctx, b.env.meter)
	if err != nil {
		return err
	}
	if b.machine, err = describeMachine(b.env.folder, version); err != nil {
		return err
	}
	logf("making %d customers", b.options.customers)
	if b.customers, err = b.env.createCustomers(ctx, b.options.customers); err != nil || !b.needsFundedAccounts() {
		return err
	}
	logf("funding their accounts")
	return b.env.fundCustomers(ctx, b.customers)
}

// measureParts runs every part that is wanted.
func (b *bench) measureParts(ctx context.Context) error {
	long := time.Duration(b.seconds) * time.Second
	brief := max(2*time.Second, long/4)
	if err := b.warmUp(ctx); err != nil {
		return err
	}
	if b.part == "exports" || b.part == "check" {
		if _, err := b.runPhase(ctx, phase{name: phaseName("ramps, so that there are books", b.inFlight), inFlight: b.inFlight, duration: long}); err != nil {
			return err
		}
	}
	if b.includesPart("ramps") || b.includesPart("half") {
		if err := b.measureRamps(ctx, long); err != nil {
			return err
		}
	}
	if err := b.measureFlows(ctx, long); err != nil {
		return err
	}
	if b.includesPart("concurrency") {
		for _, n := range []int{lowConcurrency, 256} {
			f, err := b.runPhase(ctx, phase{name: phaseName("ramps", n), inFlight: n, warmUp: time.Second, duration: brief})
			if err != nil {
				return err
			}
			b.otherConcurrencies = append(b.otherConcurrencies, f)
		}
	}
	if b.includesPart("half") {
		var err error
		b.halfLoad, err = b.runPhase(ctx, phase{name: "ramps at half that rate", inFlight: 512, rate: b.mainPhase.perSecond / 2, warmUp: 2 * time.Second, duration: long / 2})
		if err != nil {
			return err
		}
	}
	if b.includesPart("rail") {
		if err := b.measureHotRail(ctx, brief); err != nil {
			return err
		}
	}
	if b.includesPart("quotes") {
		var err error
		b.quotesOnly, err = b.runProfiled(ctx, "quotes", phase{name: "quotes alone", inFlight: b.inFlight, kind: quotesAlone, warmUp: 2 * time.Second, duration: long / 2})
		if err != nil {
			return err
		}
	}
	return b.measureFinance(ctx)
}

// measureRamps measures the ramps between two runs of pgbench.
func (b *bench) measureRamps(ctx context.Context, long time.Duration) error {
	err := b.measureBaseline(ctx)
	if err != nil {
		return err
	}
	p := phase{name: phaseName("ramps", b.inFlight), inFlight: b.inFlight, warmUp: 2 * time.Second, duration: long}
	if b.mainPhase, err = b.runProfiled(ctx, "ramps", p); err != nil {
		return err
	}
	return b.measureBaseline(ctx)
}

// measureFlows measures payouts and transfers between two runs of pgbench, and then
// one account against many.
func (b *bench) measureFlows(ctx context.Context, long time.Duration) error {
	if b.includesPart("payouts") || b.includesPart("transfers-out") || b.includesPart("transfers-in") {
		if len(b.results.baselineTPS) == 0 {
			if err := b.measureBaseline(ctx); err != nil {
				return err
			}
		}
		if err := b.measureEachFlow(ctx, long/2); err != nil {
			return err
		}
		if err := b.measureBaseline(ctx); err != nil {
			return err
		}
	}
	if b.includesPart("hot") {
		return b.measureHotAccount(ctx, max(2*time.Second, long/4))
	}
	return nil
}

func (b *bench) measureEachFlow(ctx context.Context, measured time.Duration) error {
	p := phase{name: phaseName("payouts", b.inFlight), inFlight: b.inFlight, kind: payouts, warmUp: 2 * time.Second, duration: measured}
	var err error
	if b.includesPart("payouts") {
		b.results.payouts = make([]measurement, 2)
		if b.results.payouts[0], err = b.runProfiled(ctx, "payouts", p); err != nil {
			return err
		}
		few := p
		few.name, few.inFlight, few.duration = phaseName("payouts", lowConcurrency), lowConcurrency, measured/2
		if b.results.payouts[1], err = b.runPhase(ctx, few); err != nil {
			return err
		}
	}
	if b.includesPart("transfers-out") {
		p.name, p.kind = phaseName("transfers out", b.inFlight), transfersOut
		if b.results.transfersOut, err = b.runProfiled(ctx, "transfers-out", p); err != nil {
			return err
		}
	}
	if b.includesPart("transfers-in") {
		p.name, p.kind = phaseName("transfers in", b.inFlight), transfersIn
		b.results.transfersIn, err = b.runProfiled(ctx, "transfers-in", p)
	}
	return err
}

// lowConcurrency leave the processors idle now and then, and show how long one takes.
const lowConcurrency = 8

func phaseName(what string, n int) string { return fmt.Sprintf("%s, %d under way", what, n) }

// measureHotAccount lets payouts from all accounts and from one take turns.
func (b *bench) measureHotAccount(ctx context.Context, brief time.Duration) error {
	for range 3 {
		for _, side := range []struct {
			few   int
			rates *[]float64
		}{{0, &b.hotAccount.many}, {1, &b.hotAccount.one}} {
			f, err := b.runPhase(ctx, phase{name: "one hot account", inFlight: b.inFlight, kind: payouts, maxCustomers: side.few, warmUp: time.Second, duration: brief})
			if err != nil {
				return err
			}
			*side.rates = append(*side.rates, f.perSecond)
		}
	}
	return nil
}

// warmUp makes the service prepare its statements and Postgres know its tables. Of
// the webhooks that come meanwhile, some are kept to verify their signatures.
func (b *bench) warmUp(ctx context.Context) error {
	b.env.receiver.sampling.Store(true)
	_, err := b.runPhase(ctx, phase{name: "warm-up", inFlight: b.inFlight, kind: b.mainKind(), duration: 4 * time.Second})
	b.env.receiver.sampling.Store(false)
	if err != nil {
		return err
	}
	if err := b.env.meter.analyze(ctx); err != nil {
		return err
	}
	_, err = b.runPhase(ctx, phase{name: "warm-up after ANALYZE", inFlight: b.inFlight, kind: b.mainKind(), duration: 2 * time.Second})
	return err
}

// mainKind is the kind of work that a run is about.
func (o options) mainKind() kind {
	switch o.part {
	case "quotes":
		return quotesAlone
	case "payouts", "hot":
		return payouts
	case "transfers-out":
		return transfersOut
	case "transfers-in":
		return transfersIn
	}
	return ramps
}

// runProfiled measures the phase of a part, with profiles where they are wanted.
func (b *bench) runProfiled(ctx context.Context, part string, p phase) (measurement, error) {
	if b.profileDir == "" || b.part != part && p.kind != ramps {
		return b.runPhase(ctx, p)
	}
	taken, err := b.startProfiles(ctx, p.warmUp+p.duration)
	if err != nil {
		return measurement{}, err
	}
	f, err := b.runPhase(ctx, p)
	if err != nil {
		return f, err
	}
	return f, taken.finish(ctx, b)
}

// measureHotRail lets a thousand customers and ten take turns, so that whatever else
// happens on the machine meets both.
func (b *bench) measureHotRail(ctx context.Context, brief time.Duration) error {
	for range 3 {
		for _, side := range []struct {
			few   int
			rates *[]float64
		}{{0, &b.hotRail.many}, {10, &b.hotRail.few}} {
			f, err := b.runPhase(ctx, phase{name: "one rail", inFlight: b.inFlight, maxCustomers: side.few, warmUp: time.Second, duration: brief})
			if err != nil {
				return err
			}
			*side.rates = append(*side.rates, f.perSecond)
		}
	}
	return nil
}

// measureBaseline runs pgbench when nothing else runs.
func (b *bench) measureBaseline(ctx context.Context) error {
	if b.baseline == (pgbench{}) {
		logf("making the rows of pgbench")
		var err error
		if b.baseline, err = b.env.setUpPgbench(ctx); err != nil {
			return err
		}
	}
	if err := b.awaitWebhooks(ctx); err != nil {
		return err
	}
	if err := b.env.meter.exec(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	tps, err := b.baseline.run(ctx, max(2, b.seconds/2))
	if err != nil {
		return err
	}
	logf("pgbench: %.0f transactions/s", tps)
	b.results.baselineTPS = append(b.results.baselineTPS, tps)
	return nil
}

// runPhase measures a phase and says how it went.
func (b *bench) runPhase(ctx context.Context, p phase) (measurement, error) {
	f, err := b.measure(ctx, p)
	if err == nil {
		logf("%s: %.0f/s, first answer %s ms; service %s, Postgres %s, generator %s", p.name, f.perSecond, cmp.Or(f.quote, f.send),
			formatMicros(f.cost.server), formatMicros(f.cost.postgres), formatMicros(f.cost.generator))
	}
	return f, err
}

// withDiagnostics adds what the service said last, and where things stand, to a failure that
// is not ours.
func (b *bench) withDiagnostics(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if b.env.pprofAddress != "" {
		err = errors.Join(err, downloadTo(ctx, "http://"+b.env.pprofAddress+"/debug/pprof/goroutine?debug=2", filepath.Join(b.profileDir, "goroutines.txt")))
	}
	return fmt.Errorf("%w\n%s\nthe service said last:\n%s", err, b.progressSummary(ctx), b.env.service.lastLines())
}

// logf tells whoever watches how far the run is.
func logf(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
