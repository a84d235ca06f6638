package customers

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"

	"causeway/app/internal/jobs"
	"causeway/app/internal/uow"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/ports"
)

// VerificationsConfig holds what the use cases of Verifications need.
type VerificationsConfig struct {
	Store Store
	Clock ports.Clock
	IDs   ports.IDs
	// Identity checks identities. Platforms of an environment without one cannot verify customers.
	Identity ports.IdentityByEnvironment

	// Sanctions has the environments whose customers and owners are compared with sanctions lists before
	// they are approved.
	Sanctions Screeners

	// Jobs, Log, JobRetry and JobMetrics are used by Run only.
	Jobs ports.Jobs
	Log  *logrus.Entry
	// JobRetry says when failed jobs are run again.
	JobRetry jobs.RetryPolicy
	// JobMetrics may be nil.
	JobMetrics jobs.Metrics
}

// Verifications implements the use cases of verifications and beneficial owners. Each of them locks
// the customer first, so that whatever concerns one customer happens one after the other.
type Verifications struct {
	VerificationsConfig
	workers *jobs.Workers
}

// checkTimeout is the maximum duration of a job, which may send many documents.
const checkTimeout = 5 * time.Minute

// NewVerifications returns Verifications.
func NewVerifications(c VerificationsConfig) *Verifications {
	s := &Verifications{VerificationsConfig: c}
	s.workers = jobs.New(jobs.Config{Jobs: c.Jobs, Clock: c.Clock, Log: c.Log, Retry: c.JobRetry, Metrics: c.JobMetrics},
		jobs.Handler{Step: ports.StepCheckIdentity, Do: s.checkIdentity, MaxBatch: 1, MaxPerPlatform: 4, Timeout: checkTimeout})
	return s
}

// Verification returns a verification, or VERIFICATION_NOT_FOUND.
func (s *Verifications) Verification(ctx context.Context, p ident.Platform, id ident.Verification) (verification.Verification, error) {
	return s.Store.Verification(ctx, p, id)
}

// List returns the verifications that match the filter.
func (s *Verifications) List(ctx context.Context, p ident.Platform,
	f ports.VerificationFilter) (ports.Page[verification.Verification], error) {
	return s.Store.Verifications(ctx, p, f)
}

// Waiting returns the verifications in review, and those in progress, which wait for the review of a beneficial owner or for a
// provider: of each at most limit, the oldest first. Those of deleted customers are left out.
func (s *Verifications) Waiting(ctx context.Context, p ident.Platform, limit int) (waiting []verification.Verification, err error) {
	for _, status := range []verification.Status{verification.PendingManualReview, verification.InProgress} {
		filter := ports.VerificationFilter{Status: status, Paging: ports.Paging{Limit: waitingPerRead, Ascending: true}}
		var found []verification.Verification
		for more := true; more && len(found) < limit; {
			page, err := s.List(ctx, p, filter)
			if err != nil {
				return nil, err
			}
			exists, err := s.existing(ctx, p, page.Items)
			if err != nil {
				return nil, err
			}
			for _, v := range page.Items {
				if filter.After = v.ID.UUID(); exists[v.Customer] {
					found = append(found, v)
				}
			}
			more = page.More
		}
		waiting = append(waiting, found[:min(len(found), limit)]...)
	}
	return waiting, nil
}

// waitingPerRead is how many verifications Waiting reads at once.
const waitingPerRead = 100

// existing returns which customers of verifications are not deleted.
func (s *Verifications) existing(ctx context.Context, p ident.Platform, of []verification.Verification) (map[ident.Customer]bool, error) {
	ids := make([]ident.Customer, len(of))
	for i, v := range of {
		ids[i] = v.Customer
	}
	customers, err := s.Store.CustomersByID(ctx, p, ids)
	exists := make(map[ident.Customer]bool, len(customers))
	for _, c := range customers {
		exists[c.ID] = true
	}
	return exists, err
}

// Submit submits a customer with its documents, or returns a verification with what is missing. A
// verification that waits for corrections is continued; one that is submitted is returned as it is.
// Faults: USER_NOT_FOUND, CUSTOMER_DELETED, INVALID_INPUT for a customer that is decided, CONFLICT for
// too many verifications, and for the first one while the contacts of the customer are not verified.
func (s *Verifications) Submit(ctx context.Context, principal platform.Principal, request *ports.IdempotentRequest,
	id ident.Customer) (verification.Verification, error) {
	identity, err := s.identityOf(principal.Environment)
	if err != nil {
		return verification.Verification{}, err
	}
	var submitted verification.Verification
	var refused error
	err = ports.Do(ctx, s.Store, func(ctx context.Context, tx Tx) error {
		work, err := s.lock(ctx, tx, identity, principal.Platform, id)
		if err != nil {
			return err
		}
		submitted, refused = verification.Verification{}, nil
		change, created, err := work.submit(ctx)
		submitted, refused = change.Verification, err
		if err := uow.SaveResponse(ctx, tx, request, submitted, refused); err != nil || refused != nil {
			return err
		}
		return work.write(ctx, change, created)
	})
	if err == nil {
		err = refused
	}
	return submitted, err
}

func (s *Verifications) identityOf(environment platform.Environment) (ports.Identity, error) {
	if identity, connected := s.Identity[environment]; connected {
		return identity, nil
	}
	return nil, fault.New(fault.NotImplemented, "Customers of %s platforms cannot be verified by this service.", environment)
}

// customerWork is a unit of work on one locked customer.
type customerWork struct {
	*Verifications
	tx       Tx
	identity ports.Identity
	now      time.Time
	customer customer.Customer
	owners   []customer.BeneficialOwner
	// reviewed: an operator decides, who has seen the entries of sanctions lists.
	reviewed bool
}

func (s *Verifications) lock(ctx context.Context, tx Tx, identity ports.Identity, p ident.Platform,
	id ident.Customer) (*customerWork, error) {
	c, err := tx.LockCustomer(ctx, p, id)
	if err != nil {
		return nil, err
	}
	owners, err := tx.BeneficialOwnersOf(ctx, p, id)
	return &customerWork{Verifications: s, tx: tx, identity: identity, now: s.Clock.Now(), customer: c, owners: owners}, err
}

// submit submits the customer and those of its owners who have new documents.
func (w *customerWork) submit(ctx context.Context) (change verification.Change, created bool, err error) {
	if err := verification.CheckCanBegin(w.customer); err != nil {
		return change, false, err
	}
	v, created, err := w.openOrNew(ctx)
	if err == nil && created {
		err = w.checkContacts(ctx)
	}
	if err != nil || v.Status.IsSubmitted() {
		return verification.Change{Verification: v}, false, err
	}
	documents, err := w.lockDocuments(ctx)
	if err != nil {
		return change, false, err
	}
	application := verification.Application{ID: w.IDs.New(w.now), Platform: w.customer.Platform, Verification: v.ID, Customer: w.customer,
		Owners: slices.Clone(w.owners), SubmittedAt: w.now}
	for _, d := range documents {
		application.Files = append(application.Files, d.File.Blob)
	}
	change = v.Submit(application, verification.Missing(w.customer, w.owners, documents, w.now))
	if !change.Verification.Status.IsSubmitted() {
		return change, created, nil
	}
	if err := w.submitDocuments(ctx, documents); err != nil {
		return change, created, err
	}
	if outcome, known := w.identity.Immediate(application); known {
		decision, err := w.screenedCustomer(ctx, w.decision(application.ID, outcome))
		return change.Then(change.Verification.Decide(decision, w.customer, w.owners)), created, err
	}
	return change, created, w.enqueue(ctx, w.now, change.Verification.ID.UUID())
}

// checkContacts returns CONFLICT if the customer has to verify its contacts first.
func (w *customerWork) checkContacts(ctx context.Context) error {
	owner, err := w.tx.LockPlatformShared(ctx, w.customer.Platform)
	if err == nil {
		err = w.customer.CheckContacts(owner)
	}
	return err
}

// openOrNew returns the verification that goes on, or a new one.
func (w *customerWork) openOrNew(ctx context.Context) (v verification.Verification, created bool, err error) {
	all, err := w.tx.VerificationsOf(ctx, w.customer.Platform, w.customer.ID)
	if err != nil {
		return v, false, err
	}
	if len(all) > 0 && !all[0].Status.IsFinal() {
		return all[0], false, nil
	}
	return verification.New(ident.NewVerification(w.IDs.New, w.now), w.customer, w.now), true, verification.CheckCount(w.customer, len(all))
}

// lockDocuments returns the documents of the customer and its owners.
func (w *customerWork) lockDocuments(ctx context.Context) ([]document.Document, error) {
	var documents []document.Document
	for _, holder := range w.holders() {
		held, err := w.tx.LockDocumentsOf(ctx, w.customer.Platform, holder)
		if err != nil {
			return nil, err
		}
		documents = append(documents, slices.DeleteFunc(held, func(d document.Document) bool { return !d.SupersededBy.IsZero() })...)
	}
	return documents, nil
}

func (w *customerWork) holders() []document.Holder {
	return holdersOf(w.customer.ID, w.owners)
}

// holdersOf returns a customer and its owners as holders of documents.
func holdersOf(c ident.Customer, owners []customer.BeneficialOwner) []document.Holder {
	holders := []document.Holder{{Customer: c}}
	for _, o := range owners {
		holders = append(holders, document.Holder{Owner: o.ID})
	}
	return holders
}

// submitDocuments marks new documents as submitted, and checks the owners again who have some.
func (w *customerWork) submitDocuments(ctx context.Context, documents []document.Document) error {
	documents = slices.DeleteFunc(slices.Clone(documents), func(d document.Document) bool { return !d.SubmittedAt.IsZero() })
	ids := make([]ident.Document, len(documents))
	for i, d := range documents {
		ids[i] = d.ID
	}
	if err := w.tx.MarkDocumentsSubmitted(ctx, w.customer.Platform, ids, w.now); err != nil {
		return err
	}
	for i, o := range w.owners {
		hasNew := slices.ContainsFunc(documents, func(d document.Document) bool { return d.Holder.Owner == o.ID })
		if o.Status == customer.Approved || o.Status == customer.Rejected || !hasNew {
			continue
		}
		var err error
		if w.owners[i], err = w.checkOwner(ctx, o); err != nil {
			return err
		}
		if err := w.tx.UpdateBeneficialOwner(ctx, w.owners[i]); err != nil {
			return err
		}
	}
	return nil
}

// checkOwner begins a check of an owner, who is not written.
func (w *customerWork) checkOwner(ctx context.Context, o customer.BeneficialOwner) (customer.BeneficialOwner, error) {
	o.Status, o.Check = customer.Pending, customer.Check{Application: w.IDs.New(w.now)}
	application := ownerApplication(o, w.customer)
	if outcome, known := w.identity.Immediate(application); known {
		decision, err := w.screenedOwner(ctx, o, w.decision(application.ID, outcome))
		decided, _ := verification.DecideOwner(o, decision)
		return decided, err
	}
	return o, w.enqueue(ctx, w.now, o.ID.UUID(), w.customer.ID.UUID())
}

func ownerApplication(o customer.BeneficialOwner, business customer.Customer) verification.Application {
	return verification.Application{ID: o.Check.Application, Platform: o.Platform, Owner: &o, Customer: business, SubmittedAt: o.UpdatedAt}
}

func (w *customerWork) decision(application uuid.UUID, outcome verification.Outcome) verification.Decision {
	return verification.Decision{Application: application, Outcome: outcome, By: automatic, At: w.now}
}

// automatic is the author of decisions that no operator made.
const automatic = "automatic"

// write writes a change of a verification, its events, and the status that the customer gets.
func (w *customerWork) write(ctx context.Context, change verification.Change, created bool) error {
	if !change.Applied {
		return nil
	}
	write := w.tx.UpdateVerification
	if created {
		write = w.tx.CreateVerification
	}
	if err := write(ctx, change.Verification); err != nil {
		return err
	}
	if err := w.tx.Emit(ctx, change.Events(func() ident.Webhook { return ident.NewWebhook(w.IDs.New, w.now) })); err != nil {
		return err
	}
	if change.CustomerStatus == "" || !canBeDecided(w.customer) {
		return nil
	}
	_, err := setStatus(ctx, w.tx, w.IDs, w.Clock, StatusChange{
		Platform: w.customer.Platform, Customer: w.customer.ID, Decision: customer.Decision{From: w.customer.Status, To: change.CustomerStatus}})
	return err
}

// canBeDecided reports whether a verification decides the status of a customer: not of one that was
// deleted or decided otherwise meanwhile.
func canBeDecided(c customer.Customer) bool { return verification.CheckCanBegin(c) == nil }
