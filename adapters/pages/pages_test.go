package pages

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/sirupsen/logrus"
	"golang.org/x/net/html"

	"causeway/adapters/pages/web"
	"causeway/adapters/pages/web/webtest"
	"causeway/app/customers"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/verification"
)

// fakeService is the state of one link and its session. err is what the next use cases return.
type fakeService struct {
	token, secret string
	opened        bool
	session       customers.KYCSession
	applicant     customers.Applicant
	err           error
	calls         []string
	change        customer.Change
	owner         customer.OwnerRequest
	document      customers.DocumentRequest
}

func (f *fakeService) PlatformName(_ context.Context, token string) (string, error) {
	switch {
	case token != f.token:
		return "", fault.New(fault.NotFound, "unknown")
	case f.opened:
		return "", fault.New(fault.Conflict, "used")
	}
	return f.applicant.PlatformName, f.err
}

func (f *fakeService) Open(ctx context.Context, token string) (customers.KYCSession, error) {
	if _, err := f.PlatformName(ctx, token); err != nil {
		return customers.KYCSession{}, err
	}
	f.opened = true
	opened := f.session
	opened.Secret = f.secret
	return opened, nil
}

func (f *fakeService) Session(_ context.Context, secret string) (customers.KYCSession, error) {
	if !f.opened || secret != f.secret {
		return customers.KYCSession{}, fault.New(fault.NotFound, "unknown")
	}
	return f.session, nil
}

func (f *fakeService) Applicant(ctx context.Context, secret string) (customers.Applicant, error) {
	if _, err := f.Session(ctx, secret); err != nil {
		return customers.Applicant{}, err
	}
	return f.applicant, nil
}

func (f *fakeService) call(name string) error {
	f.calls = append(f.calls, name)
	return f.err
}

func (f *fakeService) Update(_ context.Context, _ string, change customer.Change) error {
	f.change = change
	return f.call("update")
}

func (f *fakeService) AddOwner(_ context.Context, _ string, r customer.OwnerRequest) error {
	f.owner = r
	return f.call("add owner")
}

func (f *fakeService) UpdateOwner(_ context.Context, _ string, id ident.BeneficialOwner, r customer.OwnerRequest) error {
	f.owner = r
	return f.call("update " + id.String())
}

func (f *fakeService) Upload(_ context.Context, _ string, _ ident.BeneficialOwner, r customers.DocumentRequest) error {
	f.document = r
	return f.call("upload")
}

func (f *fakeService) RemoveDocument(_ context.Context, _ string, id ident.Document) error {
	return f.call("remove " + id.String())
}

func (f *fakeService) Submit(context.Context, string) error { return f.call("submit") }

// site is a browser without script at the pages.
type site struct {
	t       *testing.T
	service *fakeService
	handler http.Handler
	cookies map[string]*http.Cookie
	log     *bytes.Buffer
	origin  string // in the address bar
}

func newSite(t *testing.T, public string) *site {
	t.Helper()
	platform := numbered(ident.Platform{}, 1)
	token, hash := verification.NewSecret(platform, [32]byte{1})
	secret, _ := verification.NewSecret(platform, [32]byte{2})
	c := customer.Customer{ID: numbered(ident.Customer{}, 2), Platform: platform, Type: customer.Individual, Status: customer.Pending}
	session := customers.KYCSession{Link: verification.Link{Platform: platform, Customer: c.ID, TokenHash: hash,
		SessionExpiresAt: time.Now().Add(time.Hour)}, Customer: c}
	s := &site{t: t, cookies: map[string]*http.Cookie{}, log: new(bytes.Buffer), origin: public,
		service: &fakeService{token: token, secret: secret, session: session,
			applicant: customers.Applicant{KYCSession: session, PlatformName: "Acme Pay", CanChange: true}}}
	log := logrus.New()
	log.SetOutput(s.log)
	log.SetLevel(logrus.DebugLevel)
	p, err := New(Config{SelfService: s.service, Log: log, PublicURL: public})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	p.Register(func(method, pattern string, h http.Handler) { mux.Handle(method+" "+pattern, h) },
		func(page http.Handler) http.Handler { return page })
	s.handler = mux
	return s
}

// numbered returns an id of the same type with a number.
func numbered[K ident.Kind](id ident.ID[K], n byte) ident.ID[K] {
	id.SetUUID(uuid.UUID{15: n})
	return id
}

// response is a page as the browser has it.
type response struct {
	*http.Response
	body string
	root *html.Node
}

func (s *site) send(r *http.Request) response {
	s.t.Helper()
	got, body, root := webtest.Send(s.t, s.handler, s.cookies, r)
	return response{got, body, root}
}

func (s *site) get(path string) response {
	s.t.Helper()
	return s.send(httptest.NewRequest(http.MethodGet, s.origin+path, nil))
}

// post sends a form as a browser does, with the token of the session if there is one.
func (s *site) post(path string, values url.Values, edits ...func(*http.Request)) response {
	s.t.Helper()
	return s.send(webtest.Form(s.origin, path, s.service.secret, values, edits...))
}

// start opens the link.
func (s *site) start() {
	s.t.Helper()
	if got := s.post(LinkPath+s.service.token, nil); got.StatusCode != http.StatusSeeOther || got.Header.Get("Location") != home {
		s.t.Fatalf("the link was not opened: %d %s", got.StatusCode, got.body)
	}
}

func (s *site) setBusiness() {
	a := &s.service.applicant
	a.Customer.Type, a.Customer.Business = customer.Business, &customer.BusinessInfo{LegalName: "Nordlicht GmbH",
		Country: "DE", EntityType: "LLC"}
	a.Customer.Address = &party.Address{Line1: "Hauptstraße 1", City: "Berlin", PostalCode: "10115", Country: "DE"}
	a.Owners = []customer.BeneficialOwner{{ID: numbered(ident.BeneficialOwner{}, 9), Customer: a.Customer.ID,
		Roles:               []customer.OwnerRole{customer.ControlPerson},
		OwnershipPercentage: 60, Status: customer.Pending, Person: customer.PersonalInfo{FirstName: "Grace", LastName: "Hopper",
			BirthDate: "1970-01-02", Nationality: "DE",
			IDType: customer.NonUSTaxID, Identifier: "123456789", CountryOfIssuance: "DE"}}}
	s.setMissing()
}

// setMissing computes what is missing as the use case does.
func (s *site) setMissing() {
	a := &s.service.applicant
	a.Missing = verification.Missing(a.Customer, a.Owners, a.Documents, time.Now())
}

func (s *site) addDocument(h document.Holder, kind document.Type, side document.Side, fileName string) {
	a := &s.service.applicant
	a.Documents = append(a.Documents, document.Document{ID: numbered(ident.Document{}, byte(len(a.Documents)+1)), Holder: h,
		UpdatedAt: time.Now(),
		Details:   document.Details{Type: kind, Side: side, Country: "DE"}, File: document.File{Name: fileName}})
	s.setMissing()
}

// uploadRequest returns the form for a document with a file.
func (s *site) uploadRequest(path string, fields map[string]string, fileName string, file io.Reader) *http.Request {
	s.t.Helper()
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	_ = w.WriteField("csrf", web.FormToken(s.service.secret))
	for name, value := range fields {
		_ = w.WriteField(name, value)
	}
	part, err := w.CreateFormFile("file", fileName)
	if err == nil {
		_, err = io.Copy(part, file)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, s.origin+path, &body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Origin", s.origin)
	return r
}

// elements returns all elements with a name.
func (r response) elements(name string) []*html.Node { return webtest.Elements(r.root, name) }

func attribute(n *html.Node, name string) string { return webtest.Attribute(n, name) }

// checkStructure checks what every page must have.
func (r response) checkStructure(t *testing.T, name string) {
	t.Helper()
	bad := func(format string, args ...any) { t.Errorf("%s: %s\n%s", name, fmt.Sprintf(format, args...), r.body) }
	if got := attribute(r.elements("html")[0], "lang"); got == "" {
		bad("no language")
	}
	ids := webtest.CheckStructure(r.root, bad)
	for n := range r.root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		for _, a := range n.Attr {
			switch {
			case a.Key == "placeholder":
				bad("attribute %s", a.Key)
			case (a.Key == "src" || a.Key == "href" || a.Key == "action") && !strings.HasPrefix(a.Val, "/") && !strings.HasPrefix(a.Val, "#"):
				bad("%s leads to %s", a.Key, a.Val)
			}
		}
		if (n.Data == "script" || n.Data == "style") && n.FirstChild != nil {
			bad("inline %s", n.Data)
		}
	}
	for _, n := range r.elements("a") {
		if id, ok := strings.CutPrefix(attribute(n, "href"), "#"); ok && !ids[id] {
			bad("a link leads to #%s, which does not exist", id)
		}
	}
	for _, n := range r.elements("form") {
		if attribute(n, "method") != "post" {
			bad("a form that is not sent with POST has what is entered in its URL")
		}
	}
}
