package railtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/ports"
)

// returnChecks returns the checks of what comes back, and of refunds.
func returnChecks() []Check {
	return []Check{
		{"payout: returned after its delivery", func(f Features) bool { return slices.Contains(f.Payouts, TakenBack) }, checkPayoutReturned},
		{"collection: taken back after it was done", func(f Features) bool { return slices.Contains(f.Collections, TakenBack) },
			checkCollectionReturned},
		{"refund: one that stays inside moves nothing", func(f Features) bool { return slices.Contains(f.Refunds, Settles) },
			checkInternalRefund},
		{"refund: names the original payment", func(f Features) bool { return f.NamesOriginal && slices.Contains(f.Refunds, Settles) },
			checkOriginal},
	}
}

func checkPayoutReturned(ctx context.Context, f Fixture) error {
	p := f.Payout(1, TakenBack)
	return checkReturned(ctx, f, p.Transaction.ID.UUID(), payouts(f, 1, TakenBack), func() statusCall {
		p := delivered(f, p)
		return func(rail ports.Rail) []ports.Outcome { return rail.Status(ctx, []ports.Payout{p}) }
	})
}

func checkCollectionReturned(ctx context.Context, f Fixture) error {
	c := f.Collection(1, TakenBack)
	return checkReturned(ctx, f, c.Transaction.ID.UUID(), collections(f, 1, TakenBack), func() statusCall {
		c := collected(f, c)
		return func(rail ports.Rail) []ports.Outcome { return rail.CollectionStatus(ctx, []ports.Collection{c}) }
	})
}

// statusCall asks for the outcome of a payment that is done.
type statusCall func(ports.Rail) []ports.Outcome

// checkReturned settles a payment and takes it back; done is called when it has settled.
func checkReturned(ctx context.Context, f Fixture, id uuid.UUID, i items, done func() statusCall) error {
	rails, err := open(ctx, f, 2)
	if err != nil {
		return err
	}
	if _, err := i.settle(ctx, f, rails...); err != nil {
		return err
	}
	status := done()
	before := status(rails[0])
	if len(before) != 1 || before[0].Verdict != ports.Done && !isOpen(before[0].Verdict) {
		return fmt.Errorf("before it is taken back its status is %s", describe(before))
	}
	if err := f.TakeBack(ctx, id); err != nil {
		return err
	}
	var first []ports.Outcome
	for run := 0; ; run++ {
		if first = status(rails[1]); len(first) != 1 {
			return fmt.Errorf("%d outcomes for one item", len(first))
		}
		if first[0].Verdict == ports.Returned {
			break
		}
		if run == maxRuns {
			return fmt.Errorf("after it was taken back its status is %s", describe(first))
		}
		if err := f.Run(ctx); err != nil {
			return err
		}
	}
	again := status(rails[0])
	switch {
	case !reflect.DeepEqual(first, again):
		return fmt.Errorf("%s, and called again %s", describe(first), describe(again))
	case f.Features().Codes && first[0].Code == "":
		return errors.New("it is returned without the partner's code")
	case first[0].ReturnedAt.After(f.Now()):
		return fmt.Errorf("it is returned at %s, in the future", first[0].ReturnedAt)
	}
	return i.checkMoved(ctx, f)
}

func checkInternalRefund(ctx context.Context, f Fixture) error {
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	refund := f.Refund(1, Settles)
	refund.Internal = true
	for range 2 {
		if o := rail.Refund(ctx, []ports.Refund{refund}); len(o) != 1 || o[0].Verdict != ports.Done {
			return fmt.Errorf("%s, want %s at once", describe(o), ports.Done)
		}
		if err := f.Run(ctx); err != nil {
			return err
		}
	}
	moved, err := f.Moved(ctx, refund.ID)
	if err != nil || !f.Features().CountsMoney {
		return err
	}
	if len(moved) > 0 {
		return fmt.Errorf("it has moved %v", moved)
	}
	return nil
}

func checkOriginal(ctx context.Context, f Fixture) error {
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	if _, err := refunds(f, 1, Settles).settle(ctx, f, rail); err != nil {
		return err
	}
	refund := f.Refund(1, Settles)
	named, err := f.OriginalOf(ctx, refund.ID)
	if err != nil {
		return err
	}
	if named == "" || named != refund.Original.PartnerID {
		return fmt.Errorf("the refund names the payment %q as the one that it sends back, want %q", named, refund.Original.PartnerID)
	}
	return nil
}

// instructionChecks returns the checks of the ways to pay in.
func instructionChecks() []Check {
	pays := func(f Features) bool { return len(f.Currencies) > 0 }
	return []Check{
		{"instructions: the same for the same payment", pays, checkInstructions},
		{"instructions: of a currency that is not supported", func(Features) bool { return true }, checkUnsupported},
		{"funding: stable, and unique to the account", pays, checkFunding},
	}
}

func checkInstructions(ctx context.Context, f Fixture) error {
	// A quote that is read again has the same instructions, and a payer of fiat gets the reference.
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	p := f.Payout(1, Settles).Transaction.Platform
	for _, currency := range f.Features().Currencies {
		first, err := rail.Instructions(p, "REF", currency, "")
		again, errAgain := rail.Instructions(p, "REF", currency, "")
		other, errOther := rail.Instructions(p, "OTHER", currency, "")
		if err := errors.Join(err, errAgain, errOther); err != nil {
			return fmt.Errorf("%s: %w", currency, err)
		}
		switch {
		case len(first) == 0, !reflect.DeepEqual(first, again):
			return fmt.Errorf("%s: %v, then %v", currency, first, again)
		case reflect.DeepEqual(first, other):
			return fmt.Errorf("%s: two payments have the same instructions", currency)
		case !currency.IsCrypto() && first[0].Info["reference"] != "REF":
			return fmt.Errorf("%s: no reference in %v", currency, first[0].Info)
		}
	}
	return nil
}

func checkUnsupported(ctx context.Context, f Fixture) error {
	// Not every currency can be paid in on every rail. Of an account that is no error.
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	if _, err := rail.Instructions(ident.Platform{}, "REF", "XXX", ""); !fault.Is(err, fault.InvalidCurrency) {
		return errors.Join(errors.New("a quote in XXX is not refused with INVALID_CURRENCY"), err)
	}
	instructions, err := rail.Funding(ident.Platform{}, "Ana Silva", "FUND-A", "XXX")
	if err == nil && len(instructions) > 0 {
		err = fmt.Errorf("an account in XXX has %v", instructions)
	}
	return err
}

func checkFunding(ctx context.Context, f Fixture) error {
	// They are printed on invoices: every call returns the same, and a payer of fiat sees for whom the account is held.
	rail, err := f.Open(ctx)
	if err != nil {
		return err
	}
	p := f.Payout(1, Settles).Transaction.Platform
	for _, currency := range f.Features().Currencies {
		first, err := rail.Funding(p, "Ana Silva", "FUND-A", currency)
		again, errAgain := rail.Funding(p, "Ana Silva", "FUND-A", currency)
		other, errOther := rail.Funding(p, "Ana Silva", "FUND-B", currency)
		if err := errors.Join(err, errAgain, errOther); err != nil {
			return fmt.Errorf("%s: %w", currency, err)
		}
		if len(first) == 0 || !reflect.DeepEqual(first, again) || reflect.DeepEqual(first, other) {
			return fmt.Errorf("%s: %v, then %v, and for another account %v", currency, first, again, other)
		}
		holder, _ := first[0].Info["accountHolderName"].(string)
		if !currency.IsCrypto() && (first[0].Info["reference"] != "FUND-A" || !strings.HasSuffix(holder, "FBO Ana Silva")) {
			return fmt.Errorf("%s: no reference or owner in %v", currency, first[0].Info)
		}
	}
	return nil
}
