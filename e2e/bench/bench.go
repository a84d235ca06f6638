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
	rig       rig
	customers []customer
	made      [kinds]int64 // so far
	stick     yardstick    // once it is made
	results
}

// results are everything a run finds. What was not measured is zero.
type results struct {
	financed
	machine   machine
	when      time.Time
	options   options
	startup   startup
	idle      int64
	yardstick []float64 // transactions per second: before and after the ramps, and after payouts and transfers
	main      figures
	levels    []figures // the same with other numbers in flight
	half      figures
	rail      rail
	alone     figures // quotes alone
	payouts   []figures
	out, in   figures // transfers
	hot       hot
	closing   closing
}

// rail compares many customers with few, in ramps per second of each short run.
type rail struct{ many, few []float64 }

// hot compares payouts from many accounts with payouts from one, in the same way.
type hot struct{ many, one []float64 }

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
	b := &bench{options: o, rig: rig{folder: folder}}
	defer func() { err = errors.Join(err, b.rig.lower()) }()
	b.results.when, b.results.options = time.Now().UTC(), o

	if o.wants("start") {
		say("starting the service twice on a fresh folder")
		if b.startup, err = measureStartup(ctx, o, folder); err != nil {
			return err
		}
		if o.only == "start" {
			return b.results.show(os.Stdout)
		}
	}
	if err := b.prepare(ctx); err != nil {
		return err
	}
	if err := b.load(ctx); err != nil {
		return b.blame(ctx, err)
	}
	say("waiting for the last webhooks, checking signatures and books")
	if b.closing, err = b.close(ctx); err != nil {
		return b.blame(ctx, err)
	}
	if err := b.results.show(os.Stdout); err != nil || o.partial() {
		return err
	}
	return b.results.save(o.out)
}

// prepare brings everything up.
func (b *bench) prepare(ctx context.Context) error {
	say("starting Postgres and the service")
	err := b.rig.raise(ctx, b.options)
	if err != nil {
		return err
	}
	b.idle = b.rig.idle
	version, err := postgresVersion(ctx, b.rig.meter)
	if err != nil {
		return err
	}
	if b.machine, err = describeMachine(b.rig.folder, version); err != nil {
		return err
	}
	say("making %d customers", b.options.customers)
	if b.customers, err = b.rig.setUp(ctx, b.options.customers); err != nil || !b.needsFunds() {
		return err
	}
	say("funding their accounts")
	return b.rig.prefund(ctx, b.customers)
}

// load runs every part that is wanted.
func (b *bench) load(ctx context.Context) error {
	long := time.Duration(b.seconds) * time.Second
	brief := max(2*time.Second, long/4)
	if err := b.warmUp(ctx); err != nil {
		return err
	}
	if b.only == "exports" || b.only == "check" {
		if _, err := b.step(ctx, phase{name: underWay("ramps, so that there are books", b.inFlight), inFlight: b.inFlight, measured: long}); err != nil {
			return err
		}
	}
	if b.wants("ramps") || b.wants("half") {
		if err := b.measureMain(ctx, long); err != nil {
			return err
		}
	}
	if err := b.measureMoves(ctx, long); err != nil {
		return err
	}
	if b.wants("concurrency") {
		for _, n := range []int{fewUnderWay, 256} {
			f, err := b.step(ctx, phase{name: underWay("ramps", n), inFlight: n, warm: time.Second, measured: brief})
			if err != nil {
				return err
			}
			b.levels = append(b.levels, f)
		}
	}
	if b.wants("half") {
		var err error
		b.half, err = b.step(ctx, phase{name: "ramps at half that rate", inFlight: 512, rate: b.main.perSecond / 2, warm: 2 * time.Second, measured: long / 2})
		if err != nil {
			return err
		}
	}
	if b.wants("rail") {
		if err := b.measureRail(ctx, brief); err != nil {
			return err
		}
	}
	if b.wants("quotes") {
		var err error
		b.alone, err = b.profiled(ctx, "quotes", phase{name: "quotes alone", inFlight: b.inFlight, kind: quotesAlone, warm: 2 * time.Second, measured: long / 2})
		if err != nil {
			return err
		}
	}
	return b.measureFinance(ctx)
}

// measureMain measures the ramps between two runs of pgbench.
func (b *bench) measureMain(ctx context.Context, long time.Duration) error {
	err := b.measureYardstick(ctx)
	if err != nil {
		return err
	}
	p := phase{name: underWay("ramps", b.inFlight), inFlight: b.inFlight, warm: 2 * time.Second, measured: long}
	if b.main, err = b.profiled(ctx, "ramps", p); err != nil {
		return err
	}
	return b.measureYardstick(ctx)
}

// measureMoves measures payouts and transfers between two runs of pgbench, and then
// one account against many.
func (b *bench) measureMoves(ctx context.Context, long time.Duration) error {
	if b.wants("payouts") || b.wants("transfers-out") || b.wants("transfers-in") {
		if len(b.results.yardstick) == 0 {
			if err := b.measureYardstick(ctx); err != nil {
				return err
			}
		}
		if err := b.measureEachMove(ctx, long/2); err != nil {
			return err
		}
		if err := b.measureYardstick(ctx); err != nil {
			return err
		}
	}
	if b.wants("hot") {
		return b.measureHot(ctx, max(2*time.Second, long/4))
	}
	return nil
}

func (b *bench) measureEachMove(ctx context.Context, measured time.Duration) error {
	p := phase{name: underWay("payouts", b.inFlight), inFlight: b.inFlight, kind: payouts, warm: 2 * time.Second, measured: measured}
	var err error
	if b.wants("payouts") {
		b.results.payouts = make([]figures, 2)
		if b.results.payouts[0], err = b.profiled(ctx, "payouts", p); err != nil {
			return err
		}
		few := p
		few.name, few.inFlight, few.measured = underWay("payouts", fewUnderWay), fewUnderWay, measured/2
		if b.results.payouts[1], err = b.step(ctx, few); err != nil {
			return err
		}
	}
	if b.wants("transfers-out") {
		p.name, p.kind = underWay("transfers out", b.inFlight), transfersOut
		if b.results.out, err = b.profiled(ctx, "transfers-out", p); err != nil {
			return err
		}
	}
	if b.wants("transfers-in") {
		p.name, p.kind = underWay("transfers in", b.inFlight), transfersIn
		b.results.in, err = b.profiled(ctx, "transfers-in", p)
	}
	return err
}

// fewUnderWay leave the processors idle now and then, and show how long one takes.
const fewUnderWay = 8

func underWay(what string, n int) string { return fmt.Sprintf("%s, %d under way", what, n) }

// measureHot lets payouts from all accounts and from one take turns.
func (b *bench) measureHot(ctx context.Context, brief time.Duration) error {
	for range 3 {
		for _, side := range []struct {
			few   int
			rates *[]float64
		}{{0, &b.hot.many}, {1, &b.hot.one}} {
			f, err := b.step(ctx, phase{name: "one hot account", inFlight: b.inFlight, kind: payouts, few: side.few, warm: time.Second, measured: brief})
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
	b.rig.receiver.sampling.Store(true)
	_, err := b.step(ctx, phase{name: "warm-up", inFlight: b.inFlight, kind: b.chief(), measured: 4 * time.Second})
	b.rig.receiver.sampling.Store(false)
	if err != nil {
		return err
	}
	if err := b.rig.meter.analyze(ctx); err != nil {
		return err
	}
	_, err = b.step(ctx, phase{name: "warm-up after ANALYZE", inFlight: b.inFlight, kind: b.chief(), measured: 2 * time.Second})
	return err
}

// chief is the kind of work that a run is about.
func (o options) chief() kind {
	switch o.only {
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

// profiled measures the phase of a part, with profiles where they are wanted.
func (b *bench) profiled(ctx context.Context, part string, p phase) (figures, error) {
	if b.profile == "" || b.only != part && p.kind != ramps {
		return b.step(ctx, p)
	}
	taken, err := b.beginProfiles(ctx, p.warm+p.measured)
	if err != nil {
		return figures{}, err
	}
	f, err := b.step(ctx, p)
	if err != nil {
		return f, err
	}
	return f, taken.finish(ctx, b)
}

// measureRail lets a thousand customers and ten take turns, so that whatever else
// happens on the machine meets both.
func (b *bench) measureRail(ctx context.Context, brief time.Duration) error {
	for range 3 {
		for _, side := range []struct {
			few   int
			rates *[]float64
		}{{0, &b.rail.many}, {10, &b.rail.few}} {
			f, err := b.step(ctx, phase{name: "one rail", inFlight: b.inFlight, few: side.few, warm: time.Second, measured: brief})
			if err != nil {
				return err
			}
			*side.rates = append(*side.rates, f.perSecond)
		}
	}
	return nil
}

// measureYardstick runs pgbench when nothing else runs.
func (b *bench) measureYardstick(ctx context.Context) error {
	if b.stick == (yardstick{}) {
		say("making the rows of pgbench")
		var err error
		if b.stick, err = b.rig.makeYardstick(ctx); err != nil {
			return err
		}
	}
	if err := b.drain(ctx); err != nil {
		return err
	}
	if err := b.rig.meter.run(ctx, "CHECKPOINT"); err != nil {
		return err
	}
	tps, err := b.stick.measure(ctx, max(2, b.seconds/2))
	if err != nil {
		return err
	}
	say("pgbench: %.0f transactions/s", tps)
	b.results.yardstick = append(b.results.yardstick, tps)
	return nil
}

// step measures a phase and says how it went.
func (b *bench) step(ctx context.Context, p phase) (figures, error) {
	f, err := b.measure(ctx, p)
	if err == nil {
		say("%s: %.0f/s, first answer %s ms; service %s, Postgres %s, generator %s", p.name, f.perSecond, cmp.Or(f.quote, f.send),
			micros(f.cost.server), micros(f.cost.postgres), micros(f.cost.generator))
	}
	return f, err
}

// blame adds what the service said last, and where things stand, to a failure that
// is not ours.
func (b *bench) blame(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	if b.rig.pprof != "" {
		err = errors.Join(err, fetch(ctx, "http://"+b.rig.pprof+"/debug/pprof/goroutine?debug=2", filepath.Join(b.profile, "goroutines.txt")))
	}
	return fmt.Errorf("%w\n%s\nthe service said last:\n%s", err, b.situation(ctx), b.rig.service.words())
}

// say tells whoever watches how far the run is.
func say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "bench: "+format+"\n", args...)
}
