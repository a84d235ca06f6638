package customers

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/ports"
)

// recordHits records the hits of parties that are new or open again. It returns all hits of the customer
// and its owners, and how many were recorded.
func (w *customerWork) recordHits(ctx context.Context, compared screening.Compared,
	parties ...screening.Party) (hits []screening.Hit, recorded int, err error) {
	if hits, err = w.tx.ScreeningHitsOf(ctx, w.customer.Platform, w.customer.ID); err != nil {
		return nil, 0, err
	}
	reviews, err := w.tx.ReviewsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil {
		return nil, 0, err
	}
	for _, party := range parties {
		created, changed := compared.Hits(party, hits, clearancesOf(reviews, party.Owner), func() uuid.UUID { return w.IDs.New(w.now) }, w.now)
		if err := w.tx.CreateScreeningHits(ctx, created); err != nil {
			return nil, 0, err
		}
		for _, h := range changed {
			if err := w.tx.UpdateScreeningHit(ctx, h); err != nil {
				return nil, 0, err
			}
			hits[slices.IndexFunc(hits, func(known screening.Hit) bool { return known.ID == h.ID })] = h
		}
		hits = append(hits, created...)
		recorded += len(created) + len(changed)
	}
	return hits, recorded, nil
}

// become writes the customer as it is after a change of its status, with the event of that.
func (w *customerWork) become(ctx context.Context, after customer.Customer) error {
	if after.Status == w.customer.Status && after.Held() == w.customer.Held() && after.IsHeldByPerson() == w.customer.IsHeldByPerson() {
		return nil
	}
	changed := after.Status != w.customer.Status
	w.customer = after
	if err := w.tx.UpdateCustomer(ctx, after); err != nil || !changed {
		return err
	}
	if after.Type == customer.Business {
		after.Owners = w.owners
	}
	return emitStatus(ctx, w.tx, w.IDs, after)
}

// screened returns a decision as it is, unless it accepts a party automatically who resembles an entry
// that nobody has cleared: then an operator decides. An acceptance says what it relied on.
func (w *customerWork) screened(ctx context.Context, party screening.Party, d verification.Decision) (verification.Decision, error) {
	if d.Verdict != verification.Accepted || w.reviewed || len(w.Sanctions) == 0 {
		return d, nil
	}
	owner, err := w.tx.LockPlatformShared(ctx, w.customer.Platform)
	if err != nil {
		return d, err
	}
	screener, screened := w.Sanctions[owner.Environment]
	if !screened {
		return d, nil
	}
	compared, err := screener.Compared(ctx)
	if err != nil {
		return d, err
	}
	hits, _, err := w.recordHits(ctx, compared, party)
	if err != nil {
		return d, err
	}
	var open []string
	for _, h := range screening.OpenHits(hits) {
		if h.Owner == party.Owner {
			open = append(open, h.EntryID())
		}
	}
	return d.Screened(compared.Basis(), open), nil
}

func (w *customerWork) screenedCustomer(ctx context.Context, d verification.Decision) (verification.Decision, error) {
	subject, _ := screening.CustomerSubject(w.customer)
	return w.screened(ctx, screening.Party{Platform: w.customer.Platform, Customer: w.customer.ID, Subject: subject}, d)
}

func (w *customerWork) screenedOwner(ctx context.Context, o customer.BeneficialOwner,
	d verification.Decision) (verification.Decision, error) {
	return w.screened(ctx, screening.OwnerParty(o), d)
}

// HitsOf returns all hits of a customer and its owners, oldest first.
func (s *Screening) HitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error) {
	return s.Store.CustomerScreeningHits(ctx, p, c)
}

// Hits returns the hits that wait for an operator, those first that wait longest.
func (s *Screening) Hits(ctx context.Context, p ident.Platform, limit int) ([]screening.Hit, error) {
	return s.Store.OpenScreeningHits(ctx, p, limit)
}

// Judge applies and records what an operator says about entries that a customer or one of its owners
// resembles, and returns the customer. When no entry is open any more, a held customer is approved
// again; a confirmed one is rejected. Faults: INVALID_INPUT, USER_NOT_FOUND, BENEFICIAL_OWNER_NOT_FOUND,
// CUSTOMER_DELETED, CONFLICT if an entry is decided already.
func (s *Screening) Judge(ctx context.Context, p ident.Platform, subject screening.Party, entries []string,
	v screening.Verdict) (judged customer.Customer, err error) {
	if err := v.Check(); err != nil {
		return judged, err
	}
	if !subject.Owner.IsZero() {
		o, err := s.Store.BeneficialOwner(ctx, p, subject.Owner)
		if err != nil {
			return judged, err
		}
		subject.Customer = o.Customer
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, nil, p, subject.Customer)
		if err != nil {
			return err
		}
		if work.customer.Deleted() {
			return verification.CheckCanBegin(work.customer)
		}
		work.reviewed, v.At = true, work.now
		hits, err := tx.ScreeningHitsOf(ctx, p, subject.Customer)
		if err != nil {
			return err
		}
		decided, err := screening.Judge(hits, subject.String(), entries, v)
		if err != nil {
			return err
		}
		for _, h := range decided {
			if err := tx.UpdateScreeningHit(ctx, h); err != nil {
				return err
			}
			hits[slices.IndexFunc(hits, func(known screening.Hit) bool { return known.ID == h.ID })] = h
		}
		action := platform.OperatorClearedHit
		if v.Status == screening.Confirmed {
			action = platform.OperatorConfirmedHit
			err = work.sanction(ctx, subject.Owner, v)
		} else if len(screening.OpenHits(hits)) == 0 {
			err = work.become(ctx, work.customer.Release(work.now))
		}
		if err != nil {
			return err
		}
		judged = work.customer
		return tx.RecordOperatorAction(ctx, platform.OperatorAction{ID: s.IDs.New(work.now), Platform: p, Kind: action,
			Subject: subject.Customer.UUID(),
			Name:    subject.String() + " " + strings.Join(entries, ","), Actor: strings.TrimSpace(v.By), Person: v.Person,
			At: work.now})
	})
	return judged, err
}

// sanction rejects a customer, because it or the owner is on a sanctions list.
func (w *customerWork) sanction(ctx context.Context, owner ident.BeneficialOwner, v screening.Verdict) error {
	all, err := w.tx.VerificationsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil {
		return err
	}
	d := verification.Sanctioned(w.customer.ID.String(), v.By, v.Reason, w.now)
	if !owner.IsZero() {
		i := slices.IndexFunc(w.owners, func(o customer.BeneficialOwner) bool { return o.ID == owner })
		if i < 0 {
			return fault.New(fault.BeneficialOwnerNotFound, "There is no beneficial owner %s.", owner)
		}
		d = verification.Sanctioned(owner.String(), v.By, v.Reason, w.now)
		w.owners[i] = verification.RejectOwner(w.owners[i], d)
		if err := w.tx.UpdateBeneficialOwner(ctx, w.owners[i]); err != nil {
			return err
		}
	}
	if len(all) > 0 && all[0].Submitted != nil {
		d.Application = all[0].Submitted.ID
		if err := w.write(ctx, all[0].Decide(d, w.customer, w.owners), false); err != nil {
			return err
		}
	}
	w.customer, err = setStatus(ctx, w.tx, w.IDs, w.Clock, StatusChange{Platform: w.customer.Platform, Customer: w.customer.ID,
		Decision: customer.Decision{To: customer.Rejected}})
	return err
}
