package customers_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/core/verification"
	"causeway/core/wallet"
	"causeway/ports"
	"causeway/ports/portstest"
)

// selfServiceEnv is an environment with the use cases of the pages of a verification.
type selfServiceEnv struct {
	*verificationEnv
	links   *customers.KYCLinks
	service *customers.SelfService
}

func newSelfServiceEnv(t *testing.T) *selfServiceEnv {
	t.Helper()
	e := newVerificationEnv(t, false)
	service := customers.New(customers.Config{
		Store: e.Store, Clock: e.Clock, IDs: e.IDs, Jobs: e.Store, Log: e.Log})
	documents := customers.NewDocuments(service, customers.DocumentsConfig{Files: &portstest.Files{}, Check: anyText{}})
	links := newKYCLinks(e.Env)
	env := &selfServiceEnv{e, links, customers.NewSelfService(links, service, e.verifications, documents)}
	env.allowReturn("https://example.com")
	return env
}

// allowReturn sets the origins to which customers may return.
func (e *selfServiceEnv) allowReturn(origins string) {
	e.t.Helper()
	e.must(e.Exec(`UPDATE platforms SET kyc_redirect_origins = '{` + origins + `}'`))
}

// open opens a new link of a customer and returns the secret of the session.
func (e *selfServiceEnv) open(c ident.Customer, redirectURI string) string {
	e.t.Helper()
	link, err := e.links.Create(e.t.Context(), e.Platform.ID, nil, c, redirectURI)
	if err != nil {
		e.t.Fatal(err)
	}
	session, err := e.service.Open(e.t.Context(), link.Token)
	if err != nil {
		e.t.Fatal(err)
	}
	return session.Secret
}

func (e *selfServiceEnv) applicant(secret string) customers.Applicant {
	e.t.Helper()
	a, err := e.service.Applicant(e.t.Context(), secret)
	if err != nil {
		e.t.Fatal(err)
	}
	return a
}

func (e *selfServiceEnv) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func missingTypes(a customers.Applicant) []customer.CheckErrorType {
	var types []customer.CheckErrorType
	for _, m := range a.Missing {
		types = append(types, m.Type)
	}
	return slices.Compact(types)
}

// passport is an upload of a passport.
func passport(content string) customers.DocumentRequest {
	return customers.DocumentRequest{File: fileOf("text\n" + content), Details: document.Details{Type: document.Passport, Country: "US",
		Number: "C01X00T47", IssuingAuthority: "State"}}
}

func TestSelfService_IndividualFromLinkToApproval(t *testing.T) {
	t.Parallel()
	// A customer enters what is missing, uploads a document, submits, and is approved. A form that is
	// sent twice does no harm, and afterwards nothing can be changed.
	e := newSelfServiceEnv(t)
	ctx := t.Context()
	ada := e.NewCustomer("ada", func(c *customer.Customer) { c.Status = customer.Pending })
	secret := e.open(ada.ID, "https://example.com/done")
	if a := e.applicant(secret); !a.CanChange || a.PlatformName != e.Platform.Name || a.ReturnTo != "https://example.com/done" ||
		!slices.Contains(missingTypes(a), customer.MissingField) || !slices.Contains(missingTypes(a), customer.MissingIdentityDocument) {
		t.Fatalf("before: %+v", a)
	}

	address := new(texas)
	change := customer.Change{FullName: new("Ada Lovelace"), BirthDate: new("1990-01-02"), Nationality: new("US"), Address: &address}
	e.must(e.service.Update(ctx, secret, change))
	e.must(e.service.Update(ctx, secret, change))
	apptest.WantFault(t, "a wrong date", e.service.Update(ctx, secret, customer.Change{BirthDate: new("2090-01-01")}),
		fault.InvalidInput, "birthDate")
	e.must(e.service.Submit(ctx, secret)) // too early: it says what is missing
	if got := missingTypes(e.applicant(secret)); !slices.Equal(got, []customer.CheckErrorType{customer.MissingIdentityDocument}) {
		t.Fatalf("after the details: %q", got)
	}
	e.must(e.service.Upload(ctx, secret, ident.BeneficialOwner{}, passport("a")))
	e.must(e.service.Upload(ctx, secret, ident.BeneficialOwner{}, passport("b")))
	if a := e.applicant(secret); len(a.Missing) > 0 || len(a.Documents) != 1 {
		t.Fatalf("after the upload: %+v", a)
	}
	e.must(e.service.Submit(ctx, secret))
	e.must(e.service.Submit(ctx, secret))
	e.must(e.verifications.CheckDue(ports.ForAllPlatforms(ctx)))

	a := e.applicant(secret)
	if a.Customer.Status != customer.Approved || a.Verification.Status != verification.Approved || a.CanChange ||
		a.Customer.FullName != "Ada Lovelace" {
		t.Errorf("after: %+v", a)
	}
	apptest.WantFault(t, "a change", e.service.Update(ctx, secret, change), fault.Conflict)
	apptest.WantFault(t, "an upload", e.service.Upload(ctx, secret, ident.BeneficialOwner{}, passport("c")), fault.Conflict)
	recorded := e.QueryStrings(`SELECT DISTINCT actor || ' ' || subject FROM operator_actions WHERE action = $1`, string(platform.UpdatedCustomer))
	if want := []string{"(customer) " + ada.ID.String()}; !slices.Equal(recorded, want) {
		t.Errorf("recorded %q, want %q: all customers are one actor", recorded, want)
	}
}

func TestSelfService_BusinessWithOwners(t *testing.T) {
	t.Parallel()
	// A business adds two owners, one of them with a form that is sent twice, changes one, and uploads
	// its documents; then it can be submitted and is approved.
	e := newSelfServiceEnv(t)
	ctx := t.Context()
	business := e.newBusiness("1234")
	secret := e.open(business.ID, "")
	grace := ownerRequest("Hopper")
	e.must(e.service.AddOwner(ctx, secret, grace))
	grace.Person.Identifier = "123456789" // without dashes, in the second form
	e.must(e.service.AddOwner(ctx, secret, grace))
	ada := ownerRequest("Lovelace")
	ada.Roles, ada.Person.Identifier = []string{"UBO"}, "123-45-6788"
	e.must(e.service.AddOwner(ctx, secret, ada))
	ada.OwnershipPercentage = 90
	owners := e.applicant(secret).Owners
	if len(owners) != 2 {
		t.Fatalf("%d owners", len(owners))
	}
	apptest.WantFault(t, "too much", e.service.UpdateOwner(ctx, secret, owners[1].ID, ada), fault.InvalidInput, "ownershipPercentage")
	ada.OwnershipPercentage, ada.Person.Identifier = 70, owners[1].Person.MaskedIdentifier()
	e.must(e.service.UpdateOwner(ctx, secret, owners[1].ID, ada))
	for _, kind := range businessDocuments {
		r := passport("x")
		r.Details = document.Details{Type: kind, Country: "US"}
		e.must(e.service.Upload(ctx, secret, ident.BeneficialOwner{}, r))
	}
	e.must(e.service.Upload(ctx, secret, owners[0].ID, passport("y")))

	a := e.applicant(secret)
	if len(a.Missing) > 0 || a.Owners[1].OwnershipPercentage != 70 || a.Owners[1].Person.Identifier != "123-45-6788" || len(a.Documents) != 5 {
		t.Fatalf("before: %+v", a)
	}
	e.must(e.service.Submit(ctx, secret))
	e.must(e.verifications.CheckDue(ports.ForAllPlatforms(ctx)))
	if a := e.applicant(secret); a.Customer.Status != customer.Approved {
		t.Errorf("after: %s, %+v", a.Customer.Status, a.Verification)
	}
}

func TestSelfService_RemovesDocumentsUntilTheyAreSubmitted(t *testing.T) {
	t.Parallel()
	// A document of the customer or its owner can be removed; not one of another customer, one that is
	// gone, or one that was submitted.
	e := newSelfServiceEnv(t)
	ctx := t.Context()
	business, other := e.newBusiness("1"), e.newBusiness("2")
	secret, foreign, owner := e.open(business.ID, ""), e.open(other.ID, ""), e.newOwner(business.ID, "Hopper")
	e.must(e.service.Upload(ctx, secret, owner.ID, passport("x")))
	e.must(e.service.Upload(ctx, secret, ident.BeneficialOwner{}, passport("y")))
	e.must(e.service.Upload(ctx, foreign, ident.BeneficialOwner{}, passport("z")))
	documents := e.applicant(secret).Documents

	apptest.WantFault(t, "of another customer", e.service.RemoveDocument(ctx, secret, e.applicant(foreign).Documents[0].ID),
		fault.DocumentNotFound)
	e.must(e.service.RemoveDocument(ctx, secret, documents[0].ID))
	apptest.WantFault(t, "gone", e.service.RemoveDocument(ctx, secret, documents[0].ID), fault.DocumentNotFound)
	e.must(e.Exec(`UPDATE documents SET submitted_at = now()`))
	apptest.WantFault(t, "submitted", e.service.RemoveDocument(ctx, secret, documents[1].ID), fault.Conflict)

	if left := e.applicant(secret).Documents; len(left) != 1 || left[0].ID != documents[1].ID || len(e.applicant(foreign).Documents) != 1 {
		t.Errorf("left %+v", left)
	}
}

func TestSelfService_FormsSentTogetherAddOneOwner(t *testing.T) {
	t.Parallel()
	// Forms with the same person that are sent at the same moment all succeed, and add one owner.
	e := newSelfServiceEnv(t)
	secret := e.open(e.newBusiness("1234").ID, "")
	grace := ownerRequest("Hopper")
	grace.OwnershipPercentage = 60
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			if err := e.service.AddOwner(t.Context(), secret, grace); err != nil {
				t.Error(err)
			}
		})
	}
	running.Wait()

	if owners := e.applicant(secret).Owners; len(owners) != 1 || owners[0].OwnershipPercentage != 60 {
		t.Errorf("owners %+v", owners)
	}
}

func TestSelfService_ReachesOneCustomerOnly(t *testing.T) {
	t.Parallel()
	// With the session of one customer nothing of another one can be changed, on the same platform or
	// another; without a session nothing at all.
	e := newSelfServiceEnv(t)
	ctx := t.Context()
	mine, other := e.newBusiness("1"), e.newBusiness("2")
	secret, owner := e.open(mine.ID, ""), e.newOwner(other.ID, "Hopper")

	apptest.WantFault(t, "change", e.service.UpdateOwner(ctx, secret, owner.ID, ownerRequest("Changed")), fault.BeneficialOwnerNotFound)
	apptest.WantFault(t, "upload", e.service.Upload(ctx, secret, owner.ID, passport("x")), fault.BeneficialOwnerNotFound)
	r := passport("x")
	r.Holder = other.ID.String()
	e.must(e.service.Upload(ctx, secret, ident.BeneficialOwner{}, r))
	if d := e.applicant(secret).Documents; len(d) != 1 || d[0].Holder.Customer != mine.ID {
		t.Errorf("the document has the holder %+v", d)
	}
	if owners, err := e.Store.BeneficialOwnersOf(ports.ForAllPlatforms(ctx), e.Platform.ID, other.ID); err != nil ||
		owners[0].Person.LastName != "Hopper" {
		t.Errorf("the owner is %+v, %v", owners, err)
	}
	foreign, _ := verification.NewSecret(e.NewPlatform().ID, [32]byte{7})
	for _, wrong := range []string{"", "x", foreign} {
		_, err := e.service.Applicant(ctx, wrong)
		for name, err := range map[string]error{"read": err, "update": e.service.Update(ctx, wrong, customer.Change{}),
			"submit": e.service.Submit(ctx, wrong),
			"add":    e.service.AddOwner(ctx, wrong, ownerRequest("A")), "upload": e.service.Upload(ctx, wrong, ident.BeneficialOwner{},
				passport("x"))} {
			apptest.WantFault(t, name+" with "+wrong, err, fault.NotFound)
		}
	}
	e.Clock.Advance(verification.SessionLifetime)
	apptest.WantFault(t, "after the session", e.service.Submit(ctx, secret), fault.Conflict)
}

func TestSelfService_LookingDoesNotOpenLinks(t *testing.T) {
	t.Parallel()
	// The name of the platform can be read until the link is opened or expires, and that does not
	// open it.
	e := newSelfServiceEnv(t)
	ctx := t.Context()
	link := func() string {
		l, err := e.links.Create(ctx, e.Platform.ID, nil, e.Customer.ID, "")
		e.must(err)
		return l.Token
	}
	used, late := link(), link()
	for range 2 {
		if name, err := e.service.PlatformName(ctx, used); err != nil || name != e.Platform.Name {
			t.Errorf("looking: %q, %v", name, err)
		}
	}
	_, err := e.service.Open(ctx, used)
	e.must(err)
	_, err = e.service.PlatformName(ctx, used)
	apptest.WantFault(t, "opened", err, fault.Conflict)
	e.Clock.Advance(verification.LinkLifetime)
	_, err = e.service.PlatformName(ctx, late)
	apptest.WantFault(t, "expired", err, fault.Conflict)
	_, err = e.service.PlatformName(ctx, "x")
	apptest.WantFault(t, "malformed", err, fault.NotFound)
}

func TestSelfService_ReturnsOnlyWhereStillAllowed(t *testing.T) {
	t.Parallel()
	// An address that the platform no longer allows is not returned to, although the link has it. Without origins a sandbox platform
	// allows every address, and a production platform none.
	e := newSelfServiceEnv(t)
	const address = "https://example.com/done"
	secret := e.open(e.Customer.ID, address)
	for _, c := range []struct{ environment, origins, want string }{
		{"SANDBOX", "https://example.com", address}, {"SANDBOX", "https://other.example.com", ""}, {"SANDBOX", "", address},
		{"PRODUCTION", "https://example.com", address}, {"PRODUCTION", "https://other.example.com", ""}, {"PRODUCTION", "", ""},
	} {
		e.allowReturn(c.origins)
		e.must(e.Exec("UPDATE platforms SET environment = '" + c.environment + "'"))
		if got := e.applicant(secret).ReturnTo; got != c.want {
			t.Errorf("%s with the origins %q returns to %q, want %q", c.environment, c.origins, got, c.want)
		}
	}
}

func TestSelfService_EmailOfWalletIsRefused(t *testing.T) {
	t.Parallel()
	// The pages cannot sign, so they do not change the address to which the codes of a wallet are sent.
	e := newSelfServiceEnv(t)
	ada := e.NewCustomer("ada", func(c *customer.Customer) { c.Status, c.Email = customer.Pending, "ada@example.com" })
	account := e.NewInternalAccount(ada.ID, "USDB", 0)
	now := e.Clock.Now()
	e.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.SaveWallet(ctx, wallet.Change{Credentials: []wallet.Credential{{ID: wallet.DefaultCredentialID(account.ID),
			Platform: e.Platform.ID, Account: account.ID,
			Type: wallet.EmailOTP, Nickname: ada.Email, SentTo: ada.Email, VerifiedAt: now, CreatedAt: now, UpdatedAt: now}}})
	})

	err := e.service.Update(t.Context(), e.open(ada.ID, ""), customer.Change{Email: new("eve@example.com")})

	apptest.WantFault(t, "another address", err, fault.InvalidInput, "email")
}
