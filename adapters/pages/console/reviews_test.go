package console

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"causeway/app/customers"
	"causeway/app/payments"
	"causeway/core/agent"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/person"
	"causeway/core/platform"
	"causeway/core/screening"
	"causeway/core/transaction"
	"causeway/core/verification"
	"causeway/ports"
)

var (
	verificationID = numbered(ident.Verification{}, 50)
	ownerID        = numbered(ident.BeneficialOwner{}, 51)
	documentID     = numbered(ident.Document{}, 52)
	hitID          = uuid.UUID{0: 1, 15: 53}
	applicationID  = uuid.UUID{0: 1, 15: 54}
)

// fakeReviews is verifications, hits and documents.
type fakeReviews struct {
	*calls
	cases    []customers.ReviewCase
	hits     []screening.Hit
	held     []customer.Customer
	decision verification.Decision
	refusal  error
}

func (f *fakeReviews) Waiting(ctx context.Context, p ident.Platform, _ int) (waiting []verification.Verification, err error) {
	for _, c := range f.cases {
		waiting = append(waiting, c.Verification)
	}
	return waiting, f.read(ctx, p, "waiting")
}

func (f *fakeReviews) OnHold(ctx context.Context, p ident.Platform, _ int) ([]customer.Customer, error) {
	return f.held, f.read(ctx, p, "on hold")
}

func (f *fakeReviews) Hold(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string) (customer.Customer,
	error) {
	f.acted(by.Person.UUID())
	return customer.Customer{}, cmp.Or(f.read(ctx, p, "hold %s by %s: %s", id, by.Actor, reason), f.refusal)
}

func (f *fakeReviews) Release(ctx context.Context, p ident.Platform, by platform.Author, id ident.Customer, reason string) (
	customer.Customer, error) {
	f.acted(by.Person.UUID())
	return customer.Customer{}, cmp.Or(f.read(ctx, p, "release %s by %s: %s", id, by.Actor, reason), f.refusal)
}

func (f *fakeReviews) List(ctx context.Context, p ident.Platform, filter ports.VerificationFilter) (
	found ports.Page[verification.Verification], err error) {
	for _, c := range f.cases {
		if c.Verification.Customer == filter.Customer {
			found.Items = append(found.Items, c.Verification)
		}
	}
	return found, f.read(ctx, p, "verifications of %s", filter.Customer)
}

func (f *fakeReviews) ReviewCase(ctx context.Context, p ident.Platform, id ident.Verification) (customers.ReviewCase, error) {
	if err := f.read(ctx, p, "case %s", id); err != nil {
		return customers.ReviewCase{}, err
	}
	for _, c := range f.cases {
		if c.Verification.ID == id {
			return c, nil
		}
	}
	return customers.ReviewCase{}, fault.New(fault.VerificationNotFound, "There is no verification.")
}

func (f *fakeReviews) Review(ctx context.Context, p ident.Platform, subject verification.ReviewSubject, d verification.Decision,
	cleared ...string) (verification.Verification, error) {
	f.acted(d.Person.UUID())
	f.decision = d
	return verification.Verification{}, cmp.Or(f.read(ctx, p, "review %s: %s %s by %s, cleared %q", subject, d.Verdict, d.Application, d.By,
		cleared), f.refusal)
}

func (f *fakeReviews) Hits(ctx context.Context, p ident.Platform, _ int) ([]screening.Hit, error) {
	return f.hits, f.read(ctx, p, "hits")
}

func (f *fakeReviews) Judge(ctx context.Context, p ident.Platform, subject screening.Party, entries []string,
	v screening.Verdict) (customer.Customer, error) {
	f.acted(v.Person.UUID())
	return customer.Customer{}, f.read(ctx, p, "judge %s %q: %s by %s: %s", subject.Customer, entries, v.Status, v.By, v.Reason)
}

func (f *fakeReviews) Open(ctx context.Context, p ident.Platform, id ident.Document) (document.Document, io.ReadCloser, error) {
	return f.cases[0].Documents[0], io.NopCloser(strings.NewReader("Xibalba passport")), f.read(ctx, p, "open %s", id)
}

func (s *site) fillReviews() {
	file := document.File{ContentType: document.PNG, Size: 16}
	of := document.Document{ID: documentID, Holder: document.Holder{Customer: customerID}, File: file, CreatedAt: now}
	replaced, scan := of, of
	replaced.ID, replaced.SupersededBy = numbered(documentID, 60), documentID
	scan.ID, scan.Holder, scan.File.ContentType = numbered(documentID, 61), document.Holder{Owner: ownerID}, document.PDF
	submitted := s.customers.all[0]
	s.reviews.cases = []customers.ReviewCase{{Customer: submitted, Verification: verification.Verification{ID: verificationID,
		Customer: customerID, Status: verification.PendingManualReview, UpdatedAt: now, Submitted: &verification.Application{ID: applicationID,
			Customer: submitted}}, Owners: []customer.BeneficialOwner{{ID: ownerID, Customer: customerID, OwnershipPercentage: 40,
		Status: customer.Pending, Person: customer.PersonalInfo{FirstName: "Ixchel", LastName: "Chaac", BirthDate: "1951-02-03"},
		Check: customer.Check{Application: applicationID}}}, Documents: []document.Document{of, replaced, scan},
		Matches: []customers.ReviewMatch{{Match: screening.Match{Entry: screening.Entry{List: "ofac", Ref: "36"}, EntryName: "Quetzal Balam",
			Score: 97}, Of: customerID.String()}, {Match: screening.Match{Entry: screening.Entry{List: "eu", Ref: "7"}}, Of: customerID.String(),
			Cleared: true}}, Lists: []screening.LoadedList{{}},
		Reviews: []verification.Review{{Subject: verification.ReviewSubject{Owner: ownerID},
			Decision: verification.Decision{By: "sam@acme.example",
				At: now, Outcome: verification.Outcome{Verdict: verification.Correctable, Reason: "The photo is dark"}}}}}}
	s.reviews.held = []customer.Customer{{ID: customerID, OnHoldSince: now.Add(-72 * time.Hour)}}
	s.approvals.all = []payments.AgentAction{{Action: agent.Action{ID: agentActionID, Agent: numbered(ident.Agent{}, 15), Customer: customerID,
		Type: agent.TransferOut, Status: agent.ActionPending, CreatedAt: now.Add(-3 * time.Hour), Transfer: &agent.Transfer{
			Amount: usd(2500_00), Remittance: "Kukulkan rent"}}}}
	s.reviews.hits = []screening.Hit{{ID: hitID, Customer: customerID, Clearance: screening.Clearance{List: "eu", Ref: "9"}, Score: 91,
		FoundAt: now, SubjectName: "Quetzal Balam", EntryName: "Quetzal Balam"}}
}

func asCompliance(t *testing.T) *site {
	t.Helper()
	return newSite(t).fill().as(person.Grant{Role: person.Compliance})
}

func TestReviews_QueueWithAge(t *testing.T) {
	t.Parallel()
	// The queue has what waits, with how long. Who may not decide has no button.
	got := asCompliance(t).get(base + "/reviews")
	for _, want := range []string{"0 minutes", "eu:9", "91", "3 days", "put on hold by a person", "3 hours",
		"2500.00", "/agent-approvals/" + agentActionID.UUID().String(),
		"unmatched: its owner", "12.50", "payout before it is sent", "/hits/" + hitID.String() + "/clear",
		"/reviews/" + verificationID.UUID().String()} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	// What a connection says, and so what its limits are, is for who may see connections.
	const limits = "payout before it is sent: above the limit"
	for role, shown := range map[person.Role]bool{person.Viewer: false, person.Operator: true} {
		got := newSite(t).fill().as(person.Grant{Role: role}).get(base + "/reviews?kind=sending")
		if strings.Contains(got.body, limits) != shown || !shown && !strings.Contains(got.body, "above a limit of its connection") {
			t.Errorf("%s sees %s", role, got.body)
		}
	}
	support := newSite(t).fill().as(person.Grant{Role: person.Support})
	for _, path := range []string{"/reviews", "/reviews/" + verificationID.UUID().String()} {
		if got := support.get(base + path); strings.Contains(got.body, "/clear") || strings.Contains(got.body, "/accept") {
			t.Errorf("support may decide: %s", got.body)
		}
	}
	filter := support.payments.filters[0]
	if filter.Type != "INCOMING" || !filter.Ascending || !slices.Equal(filter.Statuses, []transaction.Status{transaction.Pending}) {
		t.Errorf("incoming payments %+v", filter)
	}
}

func TestReviews_DocumentsBesideTheForm(t *testing.T) {
	t.Parallel()
	// What was submitted is shown beside its documents after it was recorded: images on the page, which gives them no address; others are
	// downloaded, each recorded, as what no browser shows. What was replaced, or belongs to another verification, is not shown.
	s := asCompliance(t)
	path := base + "/reviews/" + verificationID.UUID().String()
	if got := s.get(path); len(got.elements("img")) > 0 || strings.Contains(got.body, "/documents/") || len(personalIn(got)) > 0 {
		t.Errorf("before it is asked for: %s", got.body)
	}
	got := s.post(path, nil)
	inlined := "data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("Xibalba passport"))
	if images := got.elements("img"); len(images) != 1 || attribute(images[0], "src") != inlined {
		t.Errorf("images: %s", got.body)
	}
	for _, want := range []string{"Quetzal Balam", "Ixchel Chaac", "ofac:36", "97", "The photo is dark", "sam@acme.example",
		path + "/accept?application=" + applicationID.String(), path + "/owners/" + ownerID.UUID().String() + "/refuse?application="} {
		if !strings.Contains(got.body, want) {
			t.Errorf("no %q in %s", want, got.body)
		}
	}
	s.reviews.cases[0].Verification.CustomerApproved, s.reviews.cases[0].Owners[0].Status = true, customer.Approved
	if got := s.post(path, nil); strings.Contains(got.body, "/accept?") || !strings.Contains(got.body, path+"/refuse?") ||
		strings.Contains(got.body, "/owners/"+ownerID.UUID().String()+"/refuse?") {
		t.Errorf("buttons of what is approved: %s", got.body)
	}
	if strings.Contains(got.body, numbered(documentID, 60).UUID().String()) {
		t.Error("a document that was replaced is shown")
	}
	s.people.recorded = nil
	file := s.post(path+"/documents/"+documentID.UUID().String(), nil)
	if file.body != "Xibalba passport" || file.Header.Get("Content-Type") != "application/octet-stream" || len(s.people.recorded) != 1 ||
		!strings.HasPrefix(file.Header.Get("Content-Disposition"), "attachment; ") {
		t.Errorf("file: %d %v, recorded %q", file.StatusCode, file.Header, s.people.recorded)
	}
	if other := s.post(path+"/documents/"+numbered(documentID, 99).UUID().String(), nil); other.StatusCode != http.StatusNotFound ||
		len(s.people.recorded) != 1 {
		t.Errorf("a document of another verification: %d", other.StatusCode)
	}
	s.people.recordErr = http.ErrAbortHandler
	if got := s.post(path+"/documents/"+documentID.UUID().String(), nil); strings.Contains(got.body, "Xibalba") {
		t.Error("a file is shown that was not recorded")
	}
}

func TestReviews_DecideWhatWasShown(t *testing.T) {
	t.Parallel()
	// A decision is about the application that was shown, made by the person with its reason, after a code. Entries are cleared one by
	// one, and those that were cleared before are not asked for.
	path := base + "/reviews/" + verificationID.UUID().String()
	owner := path + "/owners/" + ownerID.UUID().String()
	form := url.Values{"application": {applicationID.String()}, "reason": {"Genuine"}, "code": {"123456"}, "clear-ofac:36": {"yes"},
		"type": {"APPLICANT_FRAUD"}, "show": {"Rejected."}, "problems": {"address.line1 = is missing\n\nEXPIRED_DOCUMENT@" +
			documentID.String() + "= send a new one\n"}}
	by := applicationID.String() + " by ada@acme.example, cleared "
	for where, want := range map[string]string{
		path + "/accept":   "review " + verificationID.String() + ": ACCEPTED " + by + `["ofac:36"]`,
		owner + "/accept":  "review " + ownerID.String() + ": ACCEPTED " + by + "[]",
		path + "/refuse":   "review " + verificationID.String() + ": REFUSED " + by + "[]",
		owner + "/correct": "review " + ownerID.String() + ": CORRECTABLE " + by + "[]",
	} {
		s := asCompliance(t)
		if got := s.get(where + "?application=" + applicationID.String()); !strings.Contains(got.body, `value="`+applicationID.String()+`"`) ||
			strings.Contains(got.body, "eu:7") {
			t.Errorf("%s: %s", where, got.body)
		}
		if got := s.post(where, form); got.Header.Get("Location") != path || !slices.Contains(s.calls.log, want) ||
			s.reviews.decision.Reason != "Genuine" {
			t.Errorf("%s: %d, %q, want %q", where, got.StatusCode, s.calls.log, want)
		}
		errs := s.reviews.decision.Errors
		switch {
		case strings.HasSuffix(where,
			"/correct") && (len(errs) != 2 || errs[0].Resource != ownerID.String() || errs[0].Type != customer.InvalidField ||
			errs[0].Field != "address.line1" || errs[0].Reason != "is "+
			"missing" || errs[1].Resource != documentID.String() || errs[1].Type != customer.ExpiredDocument ||
			errs[1].Field != "" || errs[1].Reason != "send a new one"),
			strings.HasSuffix(where, "/refuse") && (len(errs) != 1 || errs[0].Type != customer.ApplicantFraud || errs[0].Reason != "Rejected."),
			strings.HasSuffix(where, "/accept") && len(errs) > 0:
			t.Errorf("%s: errors %+v", where, errs)
		}
	}
	s := asCompliance(t)
	form.Set("problems", "nothing said")
	if got := s.post(path+"/correct", form); got.StatusCode != fault.InvalidInput.Status() || !strings.Contains(got.body, "nothing said") {
		t.Errorf("no reason: %d %s", got.StatusCode, got.body)
	}
	form.Set("application", "")
	if got := s.post(path+"/accept", form); got.StatusCode != http.StatusBadRequest {
		t.Errorf("without an application: %d", got.StatusCode)
	}
}

func TestHits_Judged(t *testing.T) {
	t.Parallel()
	// A hit is judged as the person with its reason; one that is not open any more is not found.
	for path, status := range map[string]screening.HitStatus{"/clear": screening.Cleared, "/confirm": screening.Confirmed} {
		s := asCompliance(t)
		want := fmt.Sprintf(`judge %s ["eu:9"]: %s by ada@acme.example: Another birth date`, customerID, status)
		if got := s.post(base+"/hits/"+hitID.String()+path, url.Values{"code": {"123456"}, "reason": {"Another birth date"}}); got.Header.Get(
			"Location") != base+"/reviews" || !slices.Contains(s.calls.log, want) {
			t.Errorf("%s: %d, %q", path, got.StatusCode, s.calls.log)
		}
		s.reviews.hits = nil
		if got := s.get(base + "/hits/" + hitID.String() + path); got.StatusCode != http.StatusNotFound {
			t.Errorf("%s, decided: %d", path, got.StatusCode)
		}
	}
}

func TestReviews_QueueOfOneKind(t *testing.T) {
	t.Parallel()
	// The queue can be of one kind, and is read for that alone; an unknown kind is none. An empty one says what would be there.
	s := asCompliance(t)
	got := s.get(base + "/reviews?kind=held")
	if !strings.Contains(got.body, "put on hold by a person") || strings.Contains(got.body, "eu:9") || slices.ContainsFunc(s.calls.log,
		func(call string) bool { return strings.Contains(call, "hits") }) {
		t.Errorf("calls %q: %s", s.calls.log, got.body)
	}
	if got := s.get(base + "/reviews?kind=x"); got.StatusCode != http.StatusNotFound {
		t.Errorf("an unknown kind: %d", got.StatusCode)
	}
	if got := newSite(t).as(person.Grant{Role: person.Compliance}).get(base + "/reviews"); !strings.Contains(got.body, "Nothing waits") {
		t.Errorf("%s", got.body)
	}
}

func TestHold_ByThePersonWithAReason(t *testing.T) {
	t.Parallel()
	// An approved customer has the button to hold it, one on hold that to release it, and who may not decide has none. What is refused is
	// shown.
	path := base + "/customers/" + customerID.UUID().String()
	for name, edit := range map[string]func(*customer.Customer){
		"hold":    func(c *customer.Customer) { c.HeldAt, c.OnHoldSince = time.Time{}, time.Time{} },
		"release": func(c *customer.Customer) { c.Status, c.OnHoldSince = customer.Pending, now },
	} {
		s := asCompliance(t)
		s.customers.all[0].DeletedAt, s.customers.all[0].ErasedAt = time.Time{}, time.Time{}
		edit(&s.customers.all[0])
		if got := s.get(path); !strings.Contains(got.body, path+"/"+name) {
			t.Errorf("no %s in %s", name, got.body)
		}
		form := url.Values{"code": {"123456"}, "reason": {"Papers"}}
		got, want := s.post(path+"/"+name, form), name+" "+customerID.String()+" by ada@acme.example: Papers"
		if got.StatusCode != http.StatusSeeOther || !slices.ContainsFunc(s.calls.log, func(c string) bool { return strings.Contains(c, want) }) {
			t.Errorf("%s: %d, calls %q", name, got.StatusCode, s.calls.log)
		}
		s.reviews.refusal = fault.New(fault.Conflict, "It is on hold already.")
		if got := s.post(path+"/"+name, form); got.StatusCode != http.StatusConflict || !strings.Contains(got.body, "on hold already") {
			t.Errorf("%s: %d %s", name, got.StatusCode, got.body)
		}
		if got := s.as(person.Grant{Role: person.Support}).get(path); strings.Contains(got.body, path+"/"+name) {
			t.Errorf("support may %s: %s", name, got.body)
		}
	}
}
