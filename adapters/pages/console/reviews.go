package console

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"net/http"
	"slices"
	"strconv"

	"github.com/google/uuid"

	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/core/verification"
	"causeway/ports"
)

// Verifications are the use cases on verifications that wait for a person.
type Verifications interface {
	Waiting(ctx context.Context, p ident.Platform, limit int) ([]verification.Verification, error)
	OnHold(ctx context.Context, p ident.Platform, limit int) ([]customer.Customer, error)
	Hold(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string) (customer.Customer, error)
	Release(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string) (customer.Customer, error)
	List(ctx context.Context, p ident.Platform, f ports.VerificationFilter) (ports.Page[verification.Verification], error)
	ReviewCase(ctx context.Context, p ident.Platform, id ident.Verification) (customers.ReviewCase, error)
	Review(ctx context.Context, p ident.Platform, subject verification.ReviewSubject, d verification.Decision,
		cleared ...string) (verification.Verification, error)
}

// Screening are the use cases on those who resemble an entry of a sanctions list.
type Screening interface {
	Hits(ctx context.Context, p ident.Platform, limit int) ([]screening.Hit, error)
	HitsOf(ctx context.Context, p ident.Platform, c ident.Customer) ([]screening.Hit, error)
	Judge(ctx context.Context, p ident.Platform, subject screening.Party, entries []string, v screening.Verdict) (customer.Customer, error)
}

// Documents are the use cases on files of customers.
type Documents interface {
	Open(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, io.ReadCloser, error)
}

func (c *Console) reviewRoutes() []platformRoute {
	routes := []platformRoute{
		{"GET", "/reviews", person.View, c.showReviews},
		{"GET", "/reviews/{verification}", person.View, c.showReview},
		{"POST", "/reviews/{verification}", person.ViewPersonalData, c.revealReview},
		{"POST", "/reviews/{verification}/documents/{document}", person.ViewPersonalData, c.downloadDocument},
	}
	for _, d := range reviewDecisions {
		for _, subject := range []string{"", "/owners/{owner}"} {
			routes = append(routes, c.actionRoutes("/reviews/{verification}"+subject+"/"+d.path, person.Review,
				func(r *request) (action, error) { return c.reviewAction(r, d) })...)
		}
	}
	routes = append(routes, c.actionRoutes("/hits/{hit}/clear", person.Review, c.judge(screening.Cleared))...)
	return append(routes, c.actionRoutes("/hits/{hit}/confirm", person.Review, c.judge(screening.Confirmed))...)
}

// reviewPage shows a verification: what was submitted, beside its documents.
type reviewPage struct {
	page
	customers.ReviewCase
	IsRevealed bool
	Subjects   []reviewSubject
	// Matches are the entries of sanctions lists that the customer or an owner resembles, and Decided what was decided before.
	Matches, Decided *table
}

// reviewSubject is the customer or one of its owners.
type reviewSubject struct {
	Heading, Status string
	Facts           []fact
	Documents       []reviewDocument
	Decisions       []fact // empty if the person may not decide
}

// reviewDocument is a file. Image is set for one that is shown on the page.
type reviewDocument struct {
	Facts    []fact
	Image    template.URL
	Download string
}

func (c *Console) showReview(r *request) error { return c.reviewWith(r, false) }

// revealReview shows what was submitted, with the documents, which is recorded first.
func (c *Console) revealReview(r *request) error { return c.reviewWith(r, true) }

func (c *Console) caseIn(r *request) (customers.ReviewCase, error) {
	id, err := idIn(r, "verification", ident.ParseVerification)
	if err != nil {
		return customers.ReviewCase{}, err
	}
	return c.Verifications.ReviewCase(r.Context(), r.platform.ID, id)
}

func (c *Console) reviewWith(r *request, revealed bool) error {
	found, err := c.caseIn(r)
	if err != nil {
		return err
	}
	id := found.Verification.ID
	if revealed {
		if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
			return err
		}
	}
	show := shown(revealed)
	data := reviewPage{page: c.page(r, "Review", "reviews"), ReviewCase: found, IsRevealed: revealed}
	path := data.Base + "/reviews/" + pathOfID(id)
	subject := reviewSubject{Heading: "Customer", Status: string(found.Verification.Status)}
	who, application := found.Customer, uuid.Nil
	if s := found.Verification.Submitted; s != nil {
		who, application = s.Customer, s.ID
	}
	subject.Facts = customerFacts(who, data.Base, show)
	subject.Decisions = decisionsOn(data.page, path, application, found.Verification.CanDecide)
	budget := maxInlined
	if subject.Documents, err = c.documentsOf(r, found, document.Holder{Customer: found.Customer.ID}, path, revealed, &budget); err != nil {
		return err
	}
	data.Subjects = append(data.Subjects, subject)
	for _, o := range found.Owners {
		owner := reviewSubject{Heading: "Owner " + short(o.ID.String()), Status: string(o.Status), Facts: ownerFacts(o, show),
			Decisions: decisionsOn(data.page, path+"/owners/"+pathOfID(o.ID), o.Check.Application,
				func(application uuid.UUID, v verification.Verdict) bool {
					return verification.CanDecideOwner(o, application, v)
				})}
		if owner.Documents, err = c.documentsOf(r, found, document.Holder{Owner: o.ID}, path, revealed, &budget); err != nil {
			return err
		}
		data.Subjects = append(data.Subjects, owner)
	}
	data.Matches, data.Decided = matchesTable(found, show), decidedTable(found)
	return c.render(r, http.StatusOK, "review.html", data)
}

// decisionsOn returns the buttons for an application: those of decisions that would change something; none if the person may not decide.
func decisionsOn(p page, path string, application uuid.UUID, can func(uuid.UUID, verification.Verdict) bool) (links []fact) {
	if application == uuid.Nil || !p.Person.May(person.Review, p.Platform.ID) {
		return nil
	}
	for _, d := range reviewDecisions {
		if can(application, d.verdict) {
			links = append(links, actionLink(d.title, path+"/"+d.path+"?application="+application.String()))
		}
	}
	return links
}

func ownerFacts(o customer.BeneficialOwner, show func(string) string) []fact {
	facts := add(nil, "Id", o.ID.String())
	facts = add(facts, "Roles", words(o.Roles))
	facts = add(facts, "Owns", strconv.Itoa(o.OwnershipPercentage)+" %")
	facts = add(facts, "Name", show(joinedWith(" ", o.Person.FirstName, o.Person.MiddleName, o.Person.LastName)))
	facts = add(facts, "Born", show(o.Person.BirthDate))
	facts = add(facts, "Nationality", show(o.Person.Nationality))
	return add(facts, "E-mail", show(o.Person.Email))
}

// maxInlined is the size of the images on a page, in bytes. Further ones are downloaded.
const maxInlined = 16 << 20

// documentsOf returns the documents of the customer or an owner that were not replaced. Images are part of the page, so that no file has
// an address of its own.
func (c *Console) documentsOf(r *request, found customers.ReviewCase, of document.Holder, path string, revealed bool,
	budget *int) (shown []reviewDocument, err error) {
	for _, d := range found.Documents {
		if d.Holder != of || !d.SupersededBy.IsZero() {
			continue
		}
		facts := add(nil, "Document", lower(d.Type))
		facts = add(facts, "Added", moment(d.CreatedAt))
		facts = add(facts, "Size", fmt.Sprintf("%d KB, %s", (d.File.Size+1023)/1024, d.File.ContentType))
		doc := reviewDocument{Facts: facts}
		if revealed {
			doc.Download = path + "/documents/" + pathOfID(d.ID)
		}
		if isImage := d.File.ContentType == document.PNG || d.File.ContentType == document.JPEG; revealed && isImage &&
			int(d.File.Size) <= *budget {
			*budget -= int(d.File.Size)
			if doc.Image, err = c.inlined(r, d); err != nil {
				return nil, err
			}
		}
		shown = append(shown, doc)
	}
	return shown, nil
}

// inlined returns a file as an address that has its content.
func (c *Console) inlined(r *request, d document.Document) (template.URL, error) {
	_, file, err := c.Documents.Open(r.Context(), r.platform.ID, d.ID)
	if err != nil {
		return "", err
	}
	body, err := io.ReadAll(io.LimitReader(file, maxInlined))
	if err := cmp.Or(err, file.Close()); err != nil {
		return "", err
	}
	return template.URL("data:" + string(d.File.ContentType) + ";base64," + base64.StdEncoding.EncodeToString(body)), nil
}

// downloadDocument sends a file, which is recorded first.
func (c *Console) downloadDocument(r *request) error {
	id, err := idIn(r, "document", ident.ParseDocument)
	if err != nil {
		return err
	}
	found, err := c.caseIn(r)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(found.Documents, func(d document.Document) bool { return d.ID == id }) {
		return errNotFound
	}
	if err := c.People.RecordViewed(r.Context(), r.in.Person, r.platform.ID, id.UUID(), id.String()); err != nil {
		return err
	}
	d, file, err := c.Documents.Open(r.Context(), r.platform.ID, id)
	if err != nil {
		return err
	}
	body, err := io.ReadAll(file)
	if err := cmp.Or(err, file.Close()); err != nil {
		return err
	}
	r.w.Header().Set("Content-Type", "application/octet-stream") // no browser opens it as a page of the console
	r.w.Header().Set("Content-Disposition", `attachment; filename="`+pathOfID(id)+extensionOf(d.File.ContentType)+`"`)
	_, _ = r.w.Write(body) // the reader may have left
	return nil
}

func extensionOf(t document.ContentType) string {
	switch t {
	case document.PNG:
		return ".png"
	case document.JPEG:
		return ".jpg"
	case document.PDF:
	}
	return ".pdf"
}

func matchesTable(found customers.ReviewCase, show func(string) string) *table {
	t := &table{Label: "Sanctions lists", Columns: columns("Entry", "Name", ">Score", "Of", "Cleared before"),
		Empty: "Nobody resembles an entry of a sanctions list."}
	if len(found.Lists) == 0 {
		t.Empty = "No sanctions list is loaded, so the names were not compared. Load one with `causeway screening load`."
	}
	for _, m := range found.Matches {
		cleared := ""
		if m.Cleared {
			cleared = "yes"
		}
		t.Rows = append(t.Rows, []cell{plain(m.Entry.ID()), plain(show(m.EntryName)), amountCell(strconv.Itoa(m.Score)), plain(short(m.Of)),
			plain(cleared)})
	}
	return t
}

func decidedTable(found customers.ReviewCase) *table {
	t := &table{Label: "Decided before", Columns: columns("Time", "Of", "Decision", "By", "Reason"), Empty: "Nobody has decided anything yet."}
	for _, d := range found.Reviews {
		t.Rows = append(t.Rows, []cell{timed(d.At), plain(short(d.Subject.String())), plain(lower(d.Verdict)), acted(d.By), plain(d.Reason)})
	}
	return t
}
