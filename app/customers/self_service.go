package customers

import (
	"context"
	"slices"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/ports"
)

// SelfService implements what a customer does on the pages of its verification. Each use case takes
// the secret of a session, and reaches the customer of that session only.
type SelfService struct {
	links         *KYCLinks
	customers     *Service
	verifications *Verifications
	documents     *Documents
}

// NewSelfService returns SelfService.
func NewSelfService(l *KYCLinks, c *Service, v *Verifications, d *Documents) *SelfService {
	return &SelfService{links: l, customers: c, verifications: v, documents: d}
}

// Applicant is a customer on the pages of its verification.
type Applicant struct {
	KYCSession
	PlatformName string
	// ReturnTo is where the customer returns to; empty if there is no such URL, or if the platform
	// does not allow it any more.
	ReturnTo string
	// Owners are those of a business, oldest first, and Documents those of all of them.
	Owners    []customer.BeneficialOwner
	Documents []document.Document
	// Verification is the last one; zero if there is none.
	Verification verification.Verification
	// CanChange: it is neither submitted nor decided. Then Missing says what it lacks to be submitted.
	CanChange bool
	Missing   []customer.CheckError

	principal platform.Principal
}

// Holder returns the applicant, or one of its owners, as the holder of documents. Fault:
// BENEFICIAL_OWNER_NOT_FOUND for the owner of someone else.
func (a Applicant) Holder(owner ident.BeneficialOwner) (document.Holder, error) {
	if owner.IsZero() {
		return document.Holder{Customer: a.Customer.ID}, nil
	}
	if !slices.ContainsFunc(a.Owners, func(o customer.BeneficialOwner) bool { return o.ID == owner }) {
		return document.Holder{}, fault.New(fault.BeneficialOwnerNotFound, "There is no beneficial owner %s.", owner)
	}
	return document.Holder{Owner: owner}, nil
}

// PlatformName returns the name of the platform whose link can be opened with a token. It does not
// open the link. Faults: those of KYCLinks.Open.
func (s *SelfService) PlatformName(ctx context.Context, token string) (name string, err error) {
	p, hash, ok := verification.ParseSecret(token)
	if !ok {
		return "", errNoSession
	}
	ctx = ports.ForPlatform(ctx, p)
	err = ports.Do(ctx, s.links.Store, func(ctx context.Context, tx Tx) error {
		link, err := tx.LockKYCLink(ctx, p, hash)
		if err == nil {
			_, err = link.Open(verification.SecretHash{}, s.links.Clock.Now())
		}
		return err
	})
	if err != nil {
		return "", err
	}
	host, err := s.links.Store.Platform(ctx, p)
	return host.Name, err
}

// Open opens a link, as KYCLinks.Open does.
func (s *SelfService) Open(ctx context.Context, token string) (KYCSession, error) {
	return s.links.Open(ctx, token)
}

// Session returns the session with a secret, as KYCLinks.Session does.
func (s *SelfService) Session(ctx context.Context, secret string) (KYCSession, error) {
	return s.links.Session(ctx, secret)
}

// Applicant returns the customer of a session. Faults: those of KYCLinks.Session.
func (s *SelfService) Applicant(ctx context.Context, secret string) (a Applicant, err error) {
	if a.KYCSession, err = s.links.Session(ctx, secret); err != nil {
		return Applicant{}, err
	}
	p, c := a.Platform, a.Customer
	ctx = ports.ForPlatform(ctx, p)
	store := s.links.Store
	host, err := store.Platform(ctx, p)
	if err != nil {
		return Applicant{}, err
	}
	a.PlatformName, a.principal = host.Name, platform.Principal{Platform: p, Environment: host.Environment}
	if host.CheckRedirectURI(a.RedirectURI) == nil {
		a.ReturnTo = a.RedirectURI
	}
	if a.Owners, err = store.BeneficialOwnersOf(ctx, p, c.ID); err != nil {
		return Applicant{}, err
	}
	documents, err := store.DocumentsOf(ctx, p, holdersOf(c.ID, a.Owners)...)
	if err != nil {
		return Applicant{}, err
	}
	a.Documents = slices.DeleteFunc(documents, func(d document.Document) bool { return !d.SupersededBy.IsZero() })
	last, err := store.Verifications(ctx, p, ports.VerificationFilter{Paging: ports.Paging{Limit: 1}, Customer: c.ID})
	if err != nil {
		return Applicant{}, err
	}
	if len(last.Items) > 0 {
		a.Verification = last.Items[0]
	}
	if a.CanChange = verification.CheckCanChange(c, a.Verification) == nil; a.CanChange {
		a.Missing = verification.Missing(c, a.Owners, a.Documents, s.links.Clock.Now())
	}
	return a, nil
}

// applicant returns the customer of a session if it may change its data.
func (s *SelfService) applicant(ctx context.Context, secret string) (context.Context, Applicant, error) {
	a, err := s.Applicant(ctx, secret)
	if err == nil {
		err = verification.CheckCanChange(a.Customer, a.Verification)
	}
	return ports.ForPlatform(ctx, a.Platform), a, err
}

// Update changes the customer. Faults: those of Applicant and Service.Update, CONFLICT once it is
// submitted or decided.
func (s *SelfService) Update(ctx context.Context, secret string, change customer.Change) error {
	ctx, a, err := s.applicant(ctx, secret)
	if err != nil {
		return err
	}
	change.Type = string(a.Customer.Type)
	_, protected, err := s.customers.update(ctx, a.Platform, platform.Customer, a.Customer.ID, change, nil)
	if err == nil && protected != nil {
		err = fault.Invalid(fault.Field{Field: "email", Message: "is where the codes of your wallet are sent; change it in the app of " +
			a.PlatformName})
	}
	return err
}

// AddOwner adds a beneficial owner to a business. A person who was added already, by a form that was
// sent twice, is changed instead. Faults: those of Applicant and Verifications.CreateOwner, CONFLICT
// once it is submitted or decided.
func (s *SelfService) AddOwner(ctx context.Context, secret string, r customer.OwnerRequest) error {
	ctx, a, err := s.applicant(ctx, secret)
	if err != nil {
		return err
	}
	_, refused := s.verifications.CreateOwner(ctx, a.principal, nil, a.Customer.ID, r)
	if !fault.Is(refused, fault.Conflict) {
		return refused
	}
	if a, err = s.Applicant(ctx, secret); err != nil {
		return err
	}
	for _, o := range a.Owners {
		if o.Person.IsSamePerson(r.Person) {
			_, err := s.verifications.UpdateOwner(ctx, a.principal, o.ID, r.Update())
			return err
		}
	}
	return refused
}

// UpdateOwner changes a beneficial owner of the customer. Faults: those of Applicant and
// Verifications.UpdateOwner, CONFLICT once it is submitted or decided.
func (s *SelfService) UpdateOwner(ctx context.Context, secret string, id ident.BeneficialOwner, r customer.OwnerRequest) error {
	ctx, a, err := s.applicant(ctx, secret)
	if err != nil {
		return err
	}
	if _, err := a.Holder(id); err != nil {
		return err
	}
	_, err = s.verifications.UpdateOwner(ctx, a.principal, id, r.Update())
	return err
}

// Upload adds a document of the customer or, unless owner is zero, of one of its owners. It replaces
// a document of the same type, side and country. Faults: those of Applicant and Documents.Upload,
// CONFLICT once it is submitted or decided.
func (s *SelfService) Upload(ctx context.Context, secret string, owner ident.BeneficialOwner, r DocumentRequest) error {
	ctx, a, err := s.applicant(ctx, secret)
	if err != nil {
		return err
	}
	holder, err := a.Holder(owner)
	if err != nil {
		return err
	}
	r.Holder = holder.String()
	for _, d := range a.Documents {
		if d.Holder == holder && d.Type == r.Type && d.Side == r.Side && d.Country == r.Country {
			_, err := s.documents.Replace(ctx, a.Platform, d.ID, r)
			return err
		}
	}
	_, err = s.documents.Upload(ctx, a.Platform, nil, r)
	return err
}

// RemoveDocument deletes a document of the customer or of one of its owners that was not submitted
// before. Faults: those of Applicant and Documents.Delete, CONFLICT once the customer is submitted or
// decided.
func (s *SelfService) RemoveDocument(ctx context.Context, secret string, id ident.Document) error {
	ctx, a, err := s.applicant(ctx, secret)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(a.Documents, func(d document.Document) bool { return d.ID == id }) {
		return documentNotFound(id)
	}
	return s.documents.Delete(ctx, a.Platform, id)
}

// Submit submits the customer for verification. A customer that was submitted or decided stays as it
// is. Faults: those of Applicant and Verifications.Submit.
func (s *SelfService) Submit(ctx context.Context, secret string) error {
	a, err := s.Applicant(ctx, secret)
	if err != nil || !a.CanChange {
		return err
	}
	_, err = s.verifications.Submit(ports.ForPlatform(ctx, a.Platform), a.principal, nil, a.Customer.ID)
	return err
}
