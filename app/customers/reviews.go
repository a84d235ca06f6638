package customers

import (
	"context"
	"slices"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/ports"
)

// ReviewCase is what an operator sees of a verification.
type ReviewCase struct {
	Verification verification.Verification
	Customer     customer.Customer
	Owners       []customer.BeneficialOwner
	// Documents are those of the customer and its owners, also those that were replaced.
	Documents []document.Document
	// Matches are the entries of sanctions lists that resemble the customer or an owner.
	Matches []ReviewMatch
	// Lists are the sanctions lists that Matches come from.
	Lists []screening.LoadedList
	// Hits are the entries that the customer or an owner resembled when they were screened, oldest first.
	Hits []screening.Hit
	// Reviews are the earlier decisions of operators about the customer and its owners, oldest first.
	Reviews []verification.Review
}

// ReviewMatch is an entry that resembles the customer or an owner.
type ReviewMatch struct {
	screening.Match
	// Of is the id of the customer or the owner.
	Of string
	// Cleared: an earlier review said that the entry is about somebody else.
	Cleared bool
}

// ReviewCase returns a verification with what is needed to decide it, or VERIFICATION_NOT_FOUND.
func (s *Verifications) ReviewCase(ctx context.Context, p ident.Platform, id ident.Verification) (found ReviewCase, err error) {
	if found.Verification, err = s.Store.Verification(ctx, p, id); err != nil {
		return found, err
	}
	return s.completeCase(ctx, p, found.Verification.Customer, found)
}

// CustomerCase returns a customer with its newest verification, which is zero if it has none, as
// ReviewCase does. Fault: USER_NOT_FOUND.
func (s *Verifications) CustomerCase(ctx context.Context, p ident.Platform, id ident.Customer) (found ReviewCase, err error) {
	newest, err := s.Store.Verifications(ctx, p, ports.VerificationFilter{Customer: id, Paging: ports.Paging{Limit: 1}})
	if err != nil {
		return found, err
	}
	if len(newest.Items) > 0 {
		found.Verification = newest.Items[0]
	}
	return s.completeCase(ctx, p, id, found)
}

func (s *Verifications) completeCase(ctx context.Context, p ident.Platform, id ident.Customer, found ReviewCase) (_ ReviewCase, err error) {
	if found.Customer, err = s.Store.Customer(ctx, p, id); err != nil {
		return found, err
	}
	if found.Hits, err = s.Store.CustomerScreeningHits(ctx, p, id); err != nil {
		return found, err
	}
	if found.Owners, err = s.Store.BeneficialOwnersOf(ctx, p, found.Customer.ID); err != nil {
		return found, err
	}
	if found.Documents, err = s.Store.DocumentsOf(ctx, p, holdersOf(id, found.Owners)...); err != nil {
		return found, err
	}
	if found.Reviews, err = s.Store.ReviewsOf(ctx, p, found.Customer.ID); err != nil {
		return found, err
	}
	compared, err := s.comparedOf(ctx, p)
	if err != nil {
		return found, err
	}
	found.Lists = compared.Lists
	for _, party := range screening.Parties(found.Customer, found.Owners) {
		earlier := append(clearancesOf(found.Reviews, party.Owner), screening.ClearedHits(found.Hits, party.Owner)...)
		for _, m := range compared.Screen(party.Subject) {
			found.Matches = append(found.Matches, ReviewMatch{Match: m, Of: party.String(),
				Cleared: slices.Contains(earlier, m.Clearance(party.Subject))})
		}
	}
	return found, nil
}

// clearancesOf returns what reviews of the owner cleared, or of the customer if owner is zero.
func clearancesOf(reviews []verification.Review, owner ident.BeneficialOwner) (cleared []screening.Clearance) {
	for _, r := range reviews {
		if r.Subject.Owner == owner {
			cleared = append(cleared, r.Cleared...)
		}
	}
	return cleared
}

// Review applies and records the decision of an operator, and returns the verification that it is
// about or that waits for the owner; zero if none does. To accept, cleared must have the ids of all
// entries of sanctions lists that resemble the subject and were not cleared before. Faults:
// INVALID_INPUT for a decision that says not enough or names a document of others,
// VERIFICATION_NOT_FOUND, BENEFICIAL_OWNER_NOT_FOUND, CUSTOMER_DELETED, CONFLICT if the subject is decided already, other data was
// submitted meanwhile, or an entry is not
// cleared; then nothing changes.
func (s *Verifications) Review(ctx context.Context, p ident.Platform, subject verification.ReviewSubject, d verification.Decision,
	cleared ...string) (decided verification.Verification, err error) {
	if err := verification.CheckReview(d); err != nil {
		return decided, err
	}
	of, err := s.customerOf(ctx, p, subject)
	if err != nil {
		return decided, err
	}
	compared, err := s.comparedOf(ctx, p)
	if err != nil {
		return decided, err
	}
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, nil, p, of)
		if err != nil {
			return err
		}
		if work.customer.Deleted() {
			return verification.CheckCanBegin(work.customer)
		}
		work.reviewed = true
		if err := work.checkResources(ctx, d.Errors); err != nil {
			return err
		}
		record := verification.Review{ID: s.IDs.New(work.now), Platform: p, Customer: of, Subject: subject, Decision: d}
		record.At = work.now
		if record.Verdict == verification.Accepted {
			record.Screened = compared.Basis()
			if record.Cleared, err = work.clear(ctx, compared, subject, cleared, record.Decision); err != nil {
				return err
			}
		}
		var applied bool
		if subject.Owner.IsZero() {
			decided, applied, err = work.decide(ctx, subject.Verification, record.Decision)
		} else {
			_, applied, err = work.decideOwner(ctx, subject.Owner, record.Decision)
		}
		if err != nil {
			return err
		}
		if !applied {
			return fault.New(fault.Conflict, "%s was decided, or submitted again, after it was shown. Nothing was changed; show it again.", subject)
		}
		if !subject.Owner.IsZero() {
			if decided, err = work.newest(ctx); err != nil {
				return err
			}
		}
		return tx.CreateReview(ctx, record)
	})
	return decided, err
}

// clear returns the clearances of the entries that resemble a subject, and clears its open hits. A held
// customer without others is approved again.
func (w *customerWork) clear(ctx context.Context, compared screening.Compared, subject verification.ReviewSubject, named []string,
	d verification.Decision) ([]screening.Clearance, error) {
	reviews, err := w.tx.ReviewsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil {
		return nil, err
	}
	hits, err := w.tx.ScreeningHitsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil {
		return nil, err
	}
	parties := screening.Parties(w.customer, w.owners)
	i := slices.IndexFunc(parties, func(p screening.Party) bool { return p.Owner == subject.Owner })
	if i < 0 {
		return screening.Clear(screening.Subject{}, nil, nil, named, nil)
	}
	open := slices.DeleteFunc(screening.OpenHits(hits), func(h screening.Hit) bool { return h.Owner != subject.Owner })
	earlier := append(clearancesOf(reviews, subject.Owner), screening.ClearedHits(hits, subject.Owner)...)
	cleared, err := screening.Clear(parties[i].Subject, compared.Screen(parties[i].Subject), open, named, earlier)
	if err != nil {
		return nil, err
	}
	for _, h := range open {
		h.Status, h.By, h.Reason, h.DecidedAt = screening.Cleared, d.By, d.Reason, d.At
		if err := w.tx.UpdateScreeningHit(ctx, h); err != nil {
			return nil, err
		}
	}
	if len(open) < len(screening.OpenHits(hits)) {
		return cleared, nil
	}
	return cleared, w.become(ctx, w.customer.Release(w.now))
}

// checkResources returns INVALID_INPUT for an error about someone or something else than the customer,
// its owners and their documents, which the platform would read.
func (w *customerWork) checkResources(ctx context.Context, errors []customer.CheckError) error {
	known := map[string]bool{w.customer.ID.String(): true}
	for _, o := range w.owners {
		known[o.ID.String()] = true
	}
	if !slices.ContainsFunc(errors, func(e customer.CheckError) bool { return !known[e.Resource] }) {
		return nil
	}
	for _, holder := range w.holders() {
		documents, err := w.tx.LockDocumentsOf(ctx, w.customer.Platform, holder)
		if err != nil {
			return err
		}
		for _, d := range documents {
			known[d.ID.String()] = true
		}
	}
	for _, e := range errors {
		if !known[e.Resource] {
			return fault.Invalid(fault.Field{Field: "problem", Message: "must be about the customer, its owners or their documents; " +
				e.Resource + " is not"})
		}
	}
	return nil
}

func (s *Verifications) customerOf(ctx context.Context, p ident.Platform, subject verification.ReviewSubject) (ident.Customer, error) {
	if !subject.Owner.IsZero() {
		o, err := s.Store.BeneficialOwner(ctx, p, subject.Owner)
		return o.Customer, err
	}
	v, err := s.Store.Verification(ctx, p, subject.Verification)
	return v.Customer, err
}

// newest returns the newest verification of the customer, or zero.
func (w *customerWork) newest(ctx context.Context) (verification.Verification, error) {
	all, err := w.tx.VerificationsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil || len(all) == 0 {
		return verification.Verification{}, err
	}
	return all[0], nil
}
