package railtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"

	"causeway/ports"
)

// checks returns the checks of one kind of payment.
func (k kind) checks() []Check {
	can := func(extra func(Features) bool, courses ...Course) func(Features) bool {
		return func(f Features) bool {
			return extra(f) && len(k.courses(f)) > 0 &&
				!slices.ContainsFunc(courses, func(c Course) bool { return !slices.Contains(k.courses(f), c) })
		}
	}
	always := func(Features) bool { return true }
	crashes := func(f Features) bool { return f.Crashes }
	reports := func(f Features) bool { return f.Reports }
	stops := func(f Features) bool { return f.Stops }
	return []Check{
		{k.name + ": one outcome per item, in their order", can(always, Settles), k.checkOrder},
		{k.name + ": settles once, however often it is called", can(always, Settles), k.checkRepeated},
		{k.name + ": moves once when processes call at the same time", can(always, Settles), k.checkParallel},
		{k.name + ": refused for good with reason and code, and moves nothing", can(always, Rejected), k.checkRejected},
		{k.name + ": one that is refused does not affect others", can(always, Settles, Rejected), k.checkMixed},
		{k.name + ": refused for now is waited for", can(always, RefusedForNow), k.checkHeldBack(RefusedForNow, ports.Waiting)},
		{k.name + ": silence is never a refusal", can(always, Silent), k.checkHeldBack(Silent, ports.Waiting, ports.Unknown)},
		{k.name + ": success after our timeout is found", can(always, AnswerLost), k.checkAnswerLost},
		{k.name + ": moves once after a crash at any step", can(crashes, Settles), k.checkCrash},
		{k.name + ": moves nothing while it is paused", can(stops, Settles), k.checkPaused},
		{k.name + ": moves nothing after it was withdrawn", can(stops, Settles), k.checkWithdrawn},
		{k.name + ": withdrawn and sent again, moves once after a crash at any step", can(func(f Features) bool { return f.Stops && f.Crashes },
			Settles), k.checkWithdrawnCrash},
		{k.name + ": reported twice", can(reports, Settles), k.checkReports(Twice)},
		{k.name + ": reported in another order", can(reports, Settles), k.checkReports(Reversed)},
	}
}

func (k kind) checkOrder(ctx context.Context, f Fixture) error {
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	if _, err := k.items(f, 1).ask(ctx, rail); err != nil {
		return fmt.Errorf("without items: %w", err)
	}
	_, err = k.items(f, 1, Settles, Settles, Settles).settle(ctx, f, rail)
	return err
}

func (k kind) checkRepeated(ctx context.Context, f Fixture) error {
	// Two processes call in turn, before it has settled and after, and all of them together with others.
	rails, err := open(ctx, f, 2)
	if err != nil {
		return err
	}
	i := k.items(f, 1, Settles, Settles)
	for _, rail := range append(rails, rails...) {
		if _, err := i.ask(ctx, rail); err != nil {
			return err
		}
	}
	first, err := i.settle(ctx, f, rails...)
	if err != nil {
		return err
	}
	if err := i.checkMoved(ctx, f); err != nil {
		return err
	}
	later, err := open(ctx, f, 1)
	if err != nil {
		return err
	}
	for _, rail := range append(rails, later...) {
		again, err := i.ask(ctx, rail)
		if err != nil {
			return err
		}
		for n := range again {
			if again[n].Verdict != first[n].Verdict || again[n].PartnerID != first[n].PartnerID {
				return fmt.Errorf("%s, and called again %s", describe(first), describe(again))
			}
		}
	}
	if _, err := k.items(f, 1, Settles, Settles, Settles).settle(ctx, f, later...); err != nil {
		return err
	}
	return i.checkMoved(ctx, f)
}

// open opens some processes.
func open(ctx context.Context, f Fixture, n int) ([]ports.Rail, error) {
	var rails []ports.Rail
	for range n {
		rail, err := f.Open(ctx)
		if err != nil {
			return nil, err
		}
		rails = append(rails, rail)
	}
	return rails, nil
}

const parallelProcesses = 4

func (k kind) checkParallel(ctx context.Context, f Fixture) error {
	rails, err := open(ctx, f, parallelProcesses)
	if err != nil {
		return err
	}
	i := k.items(f, 1, Settles, Settles, Settles)
	results := make([]error, len(rails))
	var calls sync.WaitGroup
	for n, rail := range rails {
		calls.Go(func() { _, results[n] = i.ask(ctx, rail) })
	}
	calls.Wait()
	if err := errors.Join(results...); err != nil {
		return err
	}
	if _, err := i.settle(ctx, f, rails...); err != nil {
		return err
	}
	return i.checkMoved(ctx, f)
}

func (k kind) checkRejected(ctx context.Context, f Fixture) error {
	rails, err := open(ctx, f, 2)
	if err != nil {
		return err
	}
	i := k.items(f, 1, Rejected)
	first, err := i.settle(ctx, f, rails...)
	if err != nil {
		return err
	}
	for _, rail := range rails {
		again, err := i.ask(ctx, rail)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(first, again) {
			return fmt.Errorf("%s, and called again %s", describe(first), describe(again))
		}
	}
	return i.checkMoved(ctx, f)
}

func (k kind) checkMixed(ctx context.Context, f Fixture) error {
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	i := k.items(f, 1, Rejected, Settles, Settles)
	if _, err := i.settle(ctx, f, rail); err != nil {
		return err
	}
	return i.checkMoved(ctx, f)
}

// heldBackCalls is how often what is held back is called about before the partner relents.
const heldBackCalls = 6

func (k kind) checkHeldBack(c Course, allowed ...ports.Verdict) func(context.Context, Fixture) error {
	return func(ctx context.Context, f Fixture) error {
		rail, err := f.Open(ctx)
		if err != nil {
			return err
		}
		i := k.items(f, 1, c)
		var last []ports.Outcome
		for range heldBackCalls {
			if last, err = i.ask(ctx, rail); err != nil {
				return err
			}
			if !isOpen(last[0].Verdict) {
				return fmt.Errorf("%s while the partner is %s", describe(last), c)
			}
			if err := f.Run(ctx); err != nil {
				return err
			}
		}
		if !slices.Contains(allowed, last[0].Verdict) {
			return fmt.Errorf("%s while the partner is %s, want %v", describe(last), c, allowed)
		}
		if err := f.Relent(ctx); err != nil {
			return err
		}
		if _, err := i.settle(ctx, f, rail); err != nil {
			return err
		}
		return i.checkMoved(ctx, f)
	}
}

func (k kind) checkAnswerLost(ctx context.Context, f Fixture) error {
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	i := k.items(f, 1, AnswerLost)
	if _, err := i.settle(ctx, f, rail); err != nil {
		return err
	}
	return i.checkMoved(ctx, f)
}

// maxEffects bounds the crashes that are tried.
const maxEffects = 200

func (k kind) checkCrash(ctx context.Context, f Fixture) error {
	for effects := range maxEffects {
		crashing, crashed, err := f.OpenCrashing(ctx, effects)
		if err != nil {
			return err
		}
		i := k.items(f, 1+2*effects, Settles, Settles)
		i.call(ctx, crashing) // what it answers is lost
		rail, err := f.Open(ctx)
		if err != nil {
			return err
		}
		if _, err := i.settle(ctx, f, rail); err != nil {
			return fmt.Errorf("after a crash that follows %d effects: %w", effects, err)
		}
		if err := i.checkMoved(ctx, f); err != nil {
			return fmt.Errorf("after a crash that follows %d effects: %w", effects, err)
		}
		if !crashed() {
			if effects == 0 {
				return errors.New("the fixture sees no effect on the outside")
			}
			return nil
		}
	}
	return fmt.Errorf("a call has more than %d effects", maxEffects)
}

func (k kind) checkReports(r Reports) func(context.Context, Fixture) error {
	return func(ctx context.Context, f Fixture) error {
		f.SetReports(r)
		rails, err := open(ctx, f, 2)
		if err != nil {
			return err
		}
		i := k.items(f, 1, Settles, Settles, Settles)
		first, err := i.settle(ctx, f, rails...)
		if err != nil {
			return err
		}
		for range 3 {
			if err := f.Run(ctx); err != nil {
				return err
			}
		}
		again, err := i.ask(ctx, rails[0])
		if err != nil {
			return err
		}
		for n := range again {
			if again[n].Verdict != first[n].Verdict {
				return fmt.Errorf("%s, and after further reports %s", describe(first), describe(again))
			}
		}
		return i.checkMoved(ctx, f)
	}
}
