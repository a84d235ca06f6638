package railtest

import (
	"context"
	"errors"
	"fmt"

	"causeway/ports"
)

// stoppedCalls is how often a payment that may not leave is called about.
const stoppedCalls = 4

// checkHeld calls about payments that may not leave, and checks that they move nothing.
func (i items) checkHeld(ctx context.Context, f Fixture, r ports.Rail) error {
	for range stoppedCalls {
		outcomes, err := i.ask(ctx, r)
		if err != nil {
			return err
		}
		for n, o := range outcomes {
			if o.Verdict == ports.Done || o.Verdict == ports.Returned || o.Accepted {
				return fmt.Errorf("item %d may not leave, and is %s", n, describe(outcomes[n:n+1]))
			}
		}
		if err := f.Run(ctx); err != nil {
			return err
		}
	}
	return i.checkNotMoved(ctx, f)
}

func (k kind) checkPaused(ctx context.Context, f Fixture) error {
	// What is handed over during a pause stays, also when processes take turns, and leaves once after it.
	rails, err := open(ctx, f, 2)
	if err != nil {
		return err
	}
	i := k.items(f, 1, Settles, Settles)
	if err := f.Pause(ctx, true); err != nil {
		return err
	}
	for _, r := range rails {
		if err := i.checkHeld(ctx, f, r); err != nil {
			return fmt.Errorf("paused: %w", err)
		}
	}
	if err := f.Pause(ctx, false); err != nil {
		return err
	}
	if _, err := i.settle(ctx, f, rails...); err != nil {
		return err
	}
	return i.checkMoved(ctx, f)
}

// withdraw hands a payment over during a pause, withdraws it, and ends the pause.
func (k kind) withdraw(ctx context.Context, f Fixture, i items, r ports.Rail) error {
	if err := f.Pause(ctx, true); err != nil {
		return err
	}
	i.call(ctx, r) // the process may crash
	for n, key := range i.keys {
		if done, err := f.Withdraw(ctx, key); err != nil || !done {
			return errors.Join(err, fmt.Errorf("item %d has not left, and cannot be withdrawn", n))
		}
	}
	return f.Pause(ctx, false)
}

func (k kind) checkWithdrawn(ctx context.Context, f Fixture) error {
	// One that was withdrawn before it left moves nothing, and another one beside it does. It moves once when it is handed over again.
	r, err := f.Open(ctx)
	if err != nil {
		return err
	}
	withdrawn, other := k.items(f, 1, Settles), k.items(f, 2, Settles)
	if err := k.withdraw(ctx, f, withdrawn, r); err != nil {
		return err
	}
	if _, err := other.settle(ctx, f, r); err != nil {
		return fmt.Errorf("the other one: %w", err)
	}
	if err := withdrawn.checkHeld(ctx, f, r); err != nil {
		return fmt.Errorf("withdrawn: %w", err)
	}
	if err := f.HandOverAgain(ctx, withdrawn.keys[0]); err != nil {
		return err
	}
	if _, err := withdrawn.settle(ctx, f, r); err != nil {
		return fmt.Errorf("handed over again: %w", err)
	}
	return errors.Join(withdrawn.checkMoved(ctx, f), other.checkMoved(ctx, f))
}

func (k kind) checkWithdrawnCrash(ctx context.Context, f Fixture) error {
	// The process that it was handed over to, and withdrawn from, crashes after each effect.
	r, err := f.Open(ctx)
	if err != nil {
		return err
	}
	for effects := 0; ; effects++ {
		dying, crashed, err := f.OpenCrashing(ctx, effects)
		if err != nil {
			return err
		}
		i := k.items(f, effects+1, Settles)
		if err := k.withdraw(ctx, f, i, dying); err != nil {
			return fmt.Errorf("after %d effects: %w", effects, err)
		}
		if err := i.checkHeld(ctx, f, r); err != nil {
			return fmt.Errorf("withdrawn after %d effects: %w", effects, err)
		}
		if err := f.HandOverAgain(ctx, i.keys[0]); err != nil {
			return err
		}
		if _, err := i.settle(ctx, f, r); err != nil {
			return fmt.Errorf("handed over again after %d effects: %w", effects, err)
		}
		if err := i.checkMoved(ctx, f); err != nil {
			return fmt.Errorf("after %d effects: %w", effects, err)
		}
		if !crashed() {
			return nil
		}
	}
}
