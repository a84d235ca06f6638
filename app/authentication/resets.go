package authentication

import (
	"context"
	"time"

	"causeway/app/internal/strongauth"
	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/sca"
	"causeway/ports"
)

// Reset is a reset with whether the customer has the factor again.
type Reset struct {
	sca.Reset
	Enrolled bool
}

// StartReset starts the reset of a factor. Fault: RATE_LIMITED for the sixth in 24 hours.
func (s *Service) StartReset(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	f sca.Factor) (Reset, error) {
	return do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, _ strongauth.Subject, now time.Time) (started Reset, _, err error) {
		latest, err := tx.SCAResets(ctx, p, id)
		if err == nil {
			err = sca.CheckResets(latest, now)
		}
		if err != nil {
			return started, nil, err
		}
		started.Reset = sca.NewReset(sca.Reset{ID: ident.NewSCAReset(s.IDs.New, now), Platform: p, Customer: id, Factor: f}, now)
		return started, nil, tx.SaveSCAReset(ctx, started.Reset)
	})
}

// Reset returns a reset of a customer. Fault: REFERENCE_NOT_FOUND.
func (s *Service) Reset(ctx context.Context, p ident.Platform, id ident.Customer, reset ident.SCAReset) (found Reset, err error) {
	of, err := s.read(ctx, p, id)
	if err != nil {
		return found, err
	}
	stored, err := s.Store.SCAReset(ctx, p, reset)
	if err == nil && stored.Customer != id {
		err = sca.ErrNoReset
	}
	if err != nil {
		return found, err
	}
	enrolled, err := s.Factors(ctx, p, id)
	found.Reset = s.at(of.Platform, of.Customer, stored, s.now())
	_, found.Enrolled = sca.Find(enrolled, stored.Factor)
	return found, err
}

// at returns a reset as it is at a time.
func (s *Service) at(owner platform.Platform, of customer.Customer, r sca.Reset, now time.Time) sca.Reset {
	checked := r.Status
	if checks, connected := s.Liveness[owner.Environment]; connected && r.Status == sca.ResetInitiated {
		checked = checks.ResetStatus(r, of, now)
	}
	return r.At(checked, now)
}

// CompleteReset removes the factor, whose check has passed, and ends all sessions: the customer enrolls it anew. For SMS_OTP it changes
// the phone number, which the customer then verifies. Faults: REFERENCE_NOT_FOUND; INVALID_INPUT before the check has passed, or without a
// number for SMS_OTP; CONFLICT for a reset that has ended.
func (s *Service) CompleteReset(ctx context.Context, p ident.Platform, request *ports.IdempotentRequest, id ident.Customer,
	reset ident.SCAReset, phoneNumber string) error {
	_, err := do(ctx, s, p, request, id, func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (_ struct{}, _, err error) {
		return struct{}{}, nil, s.completeReset(ctx, tx, of, reset, phoneNumber, now)
	})
	return err
}

func (s *Service) completeReset(ctx context.Context, tx Tx, of strongauth.Subject, reset ident.SCAReset, phoneNumber string,
	now time.Time) error {
	account, err := tx.LockSCAAccount(ctx, of.Platform.ID, of.Customer.ID)
	if err != nil {
		return err
	}
	locked, err := tx.LockSCAReset(ctx, of.Platform.ID, reset)
	if err == nil && locked.Customer != of.Customer.ID {
		err = sca.ErrNoReset
	}
	if err != nil {
		return err
	}
	completed, err := s.at(of.Platform, of.Customer, locked, now).Complete(now)
	if err != nil {
		return err
	}
	if completed.Factor == sca.SMSOTP {
		if err := changePhone(ctx, tx, of, phoneNumber, now); err != nil {
			return err
		}
	}
	enrolled, err := tx.SCACredentials(ctx, of.Platform.ID, of.Customer.ID)
	if err != nil {
		return err
	}
	if lost, found := sca.Find(enrolled, completed.Factor); found {
		if err := tx.DeleteSCACredential(ctx, lost.Platform, lost.ID); err != nil {
			return err
		}
	}
	if err := tx.SaveSCAAccount(ctx, account.Replaced(completed.Factor, now)); err != nil {
		return err
	}
	if err := tx.EndSCASessions(ctx, of.Platform.ID, of.Customer.ID, "", now); err != nil {
		return err
	}
	if err := expireOthers(ctx, tx, completed, now); err != nil {
		return err
	}
	return tx.SaveSCAReset(ctx, completed)
}

// expireOthers ends the other resets of a factor that was reset: what was checked for them was for the factor of before.
func expireOthers(ctx context.Context, tx Tx, completed sca.Reset, now time.Time) error {
	all, err := tx.SCAResets(ctx, completed.Platform, completed.Customer)
	for i := 0; i < len(all) && err == nil; i++ {
		if other := all[i]; other.ID != completed.ID && other.Factor == completed.Factor && !other.Ended() {
			err = tx.SaveSCAReset(ctx, other.Expire(now))
		}
	}
	return err
}

// changePhone gives the customer a phone number, which is not verified.
func changePhone(ctx context.Context, tx Tx, of strongauth.Subject, number string, now time.Time) error {
	if number == "" {
		return fault.Invalid(fault.Field{Field: "mobile", Message: "is required to reset SMS_OTP: the new number of the customer"})
	}
	changed, err := of.Customer.Update(customer.Change{Type: string(of.Customer.Type), PhoneNumber: &number}, of.Platform, now)
	if fault.Is(err, fault.InvalidInput) {
		return fault.Invalid(fault.Field{Field: "mobile.number", Message: "must be a phone number of the country of mobile.countryCode"})
	}
	if err != nil {
		return err
	}
	changed.Contacts.Phone = customer.VerifiedContact{} // also if the number is the same, whose card may be another
	return tx.UpdateCustomer(ctx, changed)
}

// ResetsToDecide returns the resets of a platform whose checks wait for an operator, those that expire first before others.
func (s *Service) ResetsToDecide(ctx context.Context, p ident.Platform) (waiting []sca.Reset, err error) {
	owner, err := s.Store.Platform(ctx, p)
	if err != nil {
		return nil, err
	}
	now := s.now()
	open, err := s.Store.OpenSCAResets(ctx, p, now)
	if err != nil {
		return nil, err
	}
	for _, r := range open {
		of, err := s.Store.Customer(ctx, p, r.Customer)
		if err != nil {
			return nil, err
		}
		if r = s.at(owner, of, r, now); r.Status == sca.ResetPendingReview {
			waiting = append(waiting, r)
		}
	}
	return waiting, nil
}

// DecideReset records whether an operator has found that who resets a factor is the customer. Faults: REFERENCE_NOT_FOUND, CONFLICT.
func (s *Service) DecideReset(ctx context.Context, p ident.Platform, reset ident.SCAReset, passed bool,
	by platform.Author) (decided sca.Reset, err error) {
	found, err := s.Store.SCAReset(ctx, p, reset)
	if err != nil {
		return decided, err
	}
	decide := func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (string, error) {
		locked, err := tx.LockSCAReset(ctx, p, reset)
		if err != nil {
			return "", err
		}
		if decided, err = s.at(of.Platform, of.Customer, locked, now).Decide(passed, now); err != nil {
			return "", err
		}
		return "reset of " + string(decided.Factor) + " " + string(decided.Status), tx.SaveSCAReset(ctx, decided)
	}
	err = s.operate(ctx, p, found.Customer, by, decide)
	return decided, err
}

// Unlock lets an operator lift the lock or suspension of a customer, and clears its counter.
func (s *Service) Unlock(ctx context.Context, p ident.Platform, id ident.Customer, by platform.Author) error {
	return s.operate(ctx, p, id, by, func(ctx context.Context, tx Tx, _ strongauth.Subject, now time.Time) (string, error) {
		locked, err := tx.LockSCAAccount(ctx, p, id)
		if err != nil {
			return "", err
		}
		return "unlocked", tx.SaveSCAAccount(ctx, locked.Clear(now))
	})
}

// operate runs what an operator does about a customer, and records it under the name that fn returns.
func (s *Service) operate(ctx context.Context, p ident.Platform, id ident.Customer, by platform.Author,
	fn func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (name string, err error)) error {
	by, err := by.Parsed()
	if err != nil {
		return err
	}
	_, err = do(ctx, s, p, nil, id, func(ctx context.Context, tx Tx, of strongauth.Subject, now time.Time) (_ struct{}, _, err error) {
		name, err := fn(ctx, tx, of, now)
		if err != nil {
			return struct{}{}, nil, err
		}
		return struct{}{}, nil, tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(now), Platform: p,
			Kind: platform.OperatorDecidedSCA, Subject: id.UUID(), Name: name, Actor: by.Actor, Person: by.Person, At: now})
	})
	return err
}
