package conformance

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"slices"
	"time"

	"github.com/google/uuid"

	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/verification"
	"causeway/ports"
)

// testApplication is an application with its documents.
type testApplication struct {
	verification.Application
	documents []document.Document
	submitted bool
}

// has reports whether an id is that of the customer, an owner or a document.
func (a testApplication) has(id string) bool {
	return id == a.Customer.ID.String() || slices.ContainsFunc(a.Owners,
		func(o customer.BeneficialOwner) bool { return id == o.ID.String() }) ||
		slices.ContainsFunc(a.documents, func(d document.Document) bool { return id == d.ID.String() })
}

var address = party.Address{Line1: "5 Market Street", City: "Austin", State: "TX", PostalCode: "78701", Country: "US"}

func newUUID(time.Time) uuid.UUID { return uuid.New() }

// newIndividual returns the application of a person with a passport.
func (s *Suite) newIndividual(name string, now time.Time) testApplication {
	c := s.newCustomer(customer.Individual, now)
	c.FullName, c.BirthDate, c.Nationality = name, "1990-02-28", "US"
	a := newApplication(c, now)
	a.documents = []document.Document{s.newDocument(a.Application, document.Passport, 300_000, now)}
	return a
}

// newBusiness returns the applications of a business with two owners and two documents, and of one owner.
func (s *Suite) newBusiness(now time.Time) (business, owner testApplication) {
	c := s.newCustomer(customer.Business, now)
	c.Business = &customer.BusinessInfo{LegalName: "Acme LLC", Country: "US", EntityType: "LLC", RegistrationNumber: "5523041",
		TaxID: "12-3456789"}
	business = newApplication(c, now)
	business.Owners = []customer.BeneficialOwner{newOwner(c, "Silva", now), newOwner(c, "Moreau", now)}
	business.documents = []document.Document{s.newDocument(business.Application, "UTILITY_BILL", 100, now),
		s.newDocument(business.Application, "SHAREHOLDER_REGISTER", 20_000, now)}
	owner = newApplication(c, now)
	owner.Owner, owner.Verification = &business.Owners[0], ident.Verification{}
	return business, owner
}

func newApplication(c customer.Customer, now time.Time) testApplication {
	return testApplication{Application: verification.Application{ID: uuid.New(), Platform: c.Platform,
		Verification: ident.NewVerification(newUUID, now), Customer: c, SubmittedAt: now}}
}

func (s *Suite) newCustomer(kind customer.Type, now time.Time) customer.Customer {
	return customer.Customer{ID: ident.NewCustomer(newUUID, now), Platform: ident.NewPlatform(newUUID, now), Type: kind,
		Status: customer.Pending, Region: "US", Address: &address}
}

func newOwner(c customer.Customer, lastName string, now time.Time) customer.BeneficialOwner {
	return customer.BeneficialOwner{ID: ident.NewBeneficialOwner(newUUID, now), Platform: c.Platform, Customer: c.ID, Status: customer.Pending,
		Roles: []customer.OwnerRole{customer.ControlPerson, customer.UltimateOwner}, OwnershipPercentage: 50,
		Person: customer.PersonalInfo{FirstName: "Luc", LastName: lastName, BirthDate: "1980-01-31", Nationality: "US", Address: address,
			IDType: customer.SSN, Identifier: "123-45-6789"}}
}

// newDocument returns a document with a file of so many bytes.
func (s *Suite) newDocument(a verification.Application, kind document.Type, size int, now time.Time) document.Document {
	id := uuid.New()
	content := append([]byte("%PDF-1.4\n"+id.String()+"\n"), bytes.Repeat([]byte("test\n"), size/5)...)
	d := document.Document{ID: ident.NewDocument(newUUID, now), Platform: a.Platform, Holder: document.Holder{Customer: a.Customer.ID},
		CreatedAt: now, UpdatedAt: now, SubmittedAt: now,
		Details: document.Details{Type: kind, Country: "US"}, File: document.File{ContentType: document.PDF, Size: int64(len(content)),
			SHA256: sha256.Sum256(content), Blob: id}}
	if kind.In(document.Identity) {
		d.Number, d.IssuingAuthority = "X1234567", "Department of State"
	}
	s.files[document.BlobName(d.Platform, d.File.Blob)] = content
	return d
}

// testFiles are the files by their names.
type testFiles map[string][]byte

var _ ports.Files = testFiles{}

// Put implements ports.Files; files are not stored by their users.
func (testFiles) Put(context.Context, string, io.Reader, int64) ([]byte, error) {
	return nil, errors.ErrUnsupported
}

// Open implements ports.Files.
func (f testFiles) Open(_ context.Context, name string, _ []byte) (io.ReadCloser, error) {
	content, known := f[name]
	if !known {
		return nil, ports.ErrNoBlob
	}
	return io.NopCloser(bytes.NewReader(content)), nil
}

// Delete implements ports.Files.
func (testFiles) Delete(context.Context, string) error { return errors.ErrUnsupported }

// damagedFiles are files of which one byte differs.
type damagedFiles struct{ testFiles }

// Open implements ports.Files.
func (f damagedFiles) Open(ctx context.Context, name string, key []byte) (io.ReadCloser, error) {
	if _, err := f.testFiles.Open(ctx, name, key); err != nil {
		return nil, err
	}
	content := bytes.Clone(f.testFiles[name])
	content[len(content)-2] ^= 1
	return io.NopCloser(bytes.NewReader(content)), nil
}
