package document

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

// Document is a document of a holder, with one file.
type Document struct {
	ID       ident.Document
	Platform ident.Platform
	Holder   Holder
	Details
	File File

	CreatedAt time.Time
	UpdatedAt time.Time
	// SubmittedAt is when the file was submitted for verification; zero if it was not. Such a file is
	// evidence, and is kept until the holder is erased.
	SubmittedAt time.Time
	// SupersededBy is the document whose file replaced this one after it had been submitted. It is
	// zero for a document that the platform sees.
	SupersededBy ident.Document
}

// Holder is whom a document is about: either a customer or a beneficial owner. The zero value is
// nobody.
type Holder struct {
	Customer ident.Customer
	Owner    ident.BeneficialOwner
}

// ParseHolder parses the id of a customer or a beneficial owner.
func ParseHolder(id string) (Holder, error) {
	if customer, err := ident.ParseCustomer(id); err == nil {
		return Holder{Customer: customer}, nil
	}
	owner, err := ident.ParseBeneficialOwner(id)
	if err != nil {
		return Holder{}, errors.New(holderRule)
	}
	return Holder{Owner: owner}, nil
}

const holderRule = "must be the id of a customer or a beneficial owner: Customer:<uuid> or BeneficialOwner:<uuid>"

// String returns the id of the holder.
func (h Holder) String() string {
	if !h.Owner.IsZero() {
		return h.Owner.String()
	}
	return h.Customer.String()
}

// UUID returns the id of the holder without its type.
func (h Holder) UUID() uuid.UUID {
	if !h.Owner.IsZero() {
		return h.Owner.UUID()
	}
	return h.Customer.UUID()
}

// IsZero reports whether the holder is nobody.
func (h Holder) IsZero() bool { return h == Holder{} }

// Details are what the platform says about a document.
type Details struct {
	Type Type
	// Side is empty, or the side that the file shows.
	Side Side
	// Country issued the document (ISO 3166-1 alpha-2).
	Country string
	// Number and IssuingAuthority may be empty, except for identity documents.
	Number           string
	IssuingAuthority string
}

const (
	maxNumberLength    = 64
	maxAuthorityLength = 255
)

// Check adds the invalid fields to bad.
func (d Details) Check(bad *party.Problems) {
	names := make([]string, len(types))
	for i, t := range types {
		names[i] = string(t)
	}
	bad.OneOf("documentType", string(d.Type), party.Required, names)
	bad.Country("country", d.Country, party.Required)
	if d.Type == Passport && d.Side == Back {
		bad.Add("side", "must be FRONT or omitted: the only file of a passport is its photo page")
	} else {
		bad.OneOf("side", string(d.Side), party.Need(d.Type.HasTwoSides()), []string{string(Front), string(Back)})
	}
	needed := party.Need(d.Type.In(Identity))
	bad.Text("documentNumber", d.Number, needed, maxNumberLength)
	bad.Text("issuingAuthority", d.IssuingAuthority, needed, maxAuthorityLength)
}

// File is the file of a document as it is stored.
type File struct {
	// Name is the cleaned name that the platform gave it.
	Name        string
	ContentType ContentType
	Size        int64 // bytes
	SHA256      [sha256.Size]byte
	// Blob names the stored file. Key opens it.
	Blob uuid.UUID
	Key  []byte
}

// BlobName returns the name under which a file of a platform is stored.
func BlobName(p ident.Platform, blob uuid.UUID) string {
	return "documents/" + p.UUID().String() + "/" + blob.String()
}

// ContentType is the media type of a file.
type ContentType string

// The content types of documents.
const (
	PDF  ContentType = "application/pdf"
	JPEG ContentType = "image/jpeg"
	PNG  ContentType = "image/png"
)

// MaxPerHolder is the maximum number of documents of a holder, and MaxFilesPerHolder that with the
// submitted files that were replaced.
const (
	MaxPerHolder      = 50
	MaxFilesPerHolder = 200
)

// New returns a new document of a holder, who has the existing ones. The details were checked.
func New(id ident.Document, p ident.Platform, h Holder, d Details, f File, existing []Document, now time.Time) (Document, error) {
	if id.IsZero() || p.IsZero() || h.IsZero() || f.Blob == uuid.Nil || len(f.Key) == 0 {
		return Document{}, errors.New("a document needs an id, a platform, a holder and a stored file")
	}
	if err := CheckRoom(h, existing); err != nil {
		return Document{}, err
	}
	return Document{ID: id, Platform: p, Holder: h, Details: d, File: f, CreatedAt: now, UpdatedAt: now}, nil
}

// CheckRoom returns CONFLICT if a holder with the existing documents can have no more.
func CheckRoom(h Holder, existing []Document) error {
	current := 0
	for _, e := range existing {
		if e.SupersededBy.IsZero() {
			current++
		}
	}
	if current >= MaxPerHolder {
		return fault.New(fault.Conflict, "%s has %d documents, which is the maximum. Delete those that are not needed.", h, current)
	}
	return checkFiles(h, existing)
}

func checkFiles(h Holder, existing []Document) error {
	if len(existing) < MaxFilesPerHolder {
		return nil
	}
	return fault.New(fault.Conflict, "%s has %d files, with those that were submitted for verification and then replaced, which is the "+
		"maximum.", h, len(existing))
}

// Replace returns the document with other details and another file. If the file that it had was
// submitted for verification, superseded is the document that keeps it, with the given id; else
// superseded is nil and the file is no longer needed.
func (d Document) Replace(details Details, f File, supersededID ident.Document, existing []Document,
	now time.Time) (next Document, superseded *Document, err error) {
	next = d
	next.Details, next.File, next.UpdatedAt, next.SubmittedAt = details, f, now, time.Time{}
	if d.SubmittedAt.IsZero() {
		return next, nil, nil
	}
	if err := checkFiles(d.Holder, existing); err != nil {
		return Document{}, nil, err
	}
	kept := d
	kept.ID, kept.SupersededBy = supersededID, d.ID
	return next, &kept, nil
}

// CheckDelete returns CONFLICT for a document that was submitted for verification.
func (d Document) CheckDelete() error {
	if d.SubmittedAt.IsZero() {
		return nil
	}
	return &fault.Error{Code: fault.Conflict, Reason: "Submitted for verification",
		Message: fmt.Sprintf("The document %s was submitted for verification and cannot be deleted. Replace it with PUT "+
			"/documents/{documentId} if it is wrong.", d.ID)}
}
