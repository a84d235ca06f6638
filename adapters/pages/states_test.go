package pages

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"causeway/adapters/pages/web"
	"causeway/core/customer"
	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/verification"
)

const public = "https://pay.example.com"

// states are all pages in all states, by name. Each returns the page of a new site.
var states = map[string]func(s *site) response{
	"link":         func(s *site) response { return s.get(LinkPath + s.service.token) },
	"unknown link": func(s *site) response { return s.get(LinkPath + "x") },
	"used link":    func(s *site) response { s.service.opened = true; return s.get(LinkPath + s.service.token) },
	"no session":   func(s *site) response { return s.get(home) },
	"individual": func(s *site) response {
		s.setMissing()
		s.start()
		return s.get(home)
	},
	"individual with one side of a card": func(s *site) response {
		s.addDocument(document.Holder{Customer: s.service.applicant.Customer.ID}, document.NationalID, document.Front, "front.jpg")
		s.start()
		return s.get(home)
	},
	"complete":   func(s *site) response { s.start(); return s.get(home) },
	"to correct": func(s *site) response { s.found(customer.CheckErrorTypes...); s.start(); return s.get(home) },
	"unknown field": func(s *site) response {
		s.service.applicant.Missing = []customer.CheckError{{Type: customer.MissingField, Field: "somethingNew"}}
		s.start()
		return s.get(home)
	},
	"business": func(s *site) response { s.setBusiness(); s.start(); return s.get(home) },
	"no owners": func(s *site) response {
		s.setBusiness()
		s.service.applicant.Owners = nil
		s.setMissing()
		s.start()
		return s.get(home)
	},
	"in progress": func(s *site) response { return s.decided(customer.Pending, verification.InProgress) },
	"in review":   func(s *site) response { return s.decided(customer.Pending, verification.PendingManualReview) },
	"approved":    func(s *site) response { return s.decided(customer.Approved, verification.Approved) },
	"approved, with a way back": func(s *site) response {
		s.service.applicant.ReturnTo = "https://example.com/done?a=1"
		return s.decided(customer.Approved, verification.Approved)
	},
	"rejected": func(s *site) response { return s.decided(customer.Rejected, verification.Rejected) },
	"details":  func(s *site) response { s.start(); return s.get(home + "/details") },
	"details to correct": func(s *site) response {
		s.service.applicant.Customer.FullName = "Ada"
		s.setMissing()
		s.start()
		return s.get(home + "/details")
	},
	"details of a business": func(s *site) response { s.setBusiness(); s.start(); return s.get(home + "/details") },
	"refused details": func(s *site) response {
		return s.refused(home+"/details", "fullName", "birthDate", "nationality", "address.line1", "address.state",
			"address.country", "elsewhere")
	},
	"refused details of a business": func(s *site) response {
		s.setBusiness()
		return s.refused(home+"/details", "businessInfo.legalName", "businessInfo.doingBusinessAs", "businessInfo.taxId",
			"businessInfo.incorporatedOn", "businessInfo.entityType")
	},
	"new owner": func(s *site) response { s.setBusiness(); s.start(); return s.get(home + "/owners/new") },
	"owner":     func(s *site) response { s.setBusiness(); s.start(); return s.get(home + "/owners/" + s.ownerID()) },
	"refused owner": func(s *site) response {
		s.setBusiness()
		return s.refused(home+"/owners/new", "roles[0]", "ownershipPercentage", "personalInfo.firstName", "personalInfo.middleName",
			"personalInfo.lastName", "personalInfo.email", "personalInfo.idType",
			"personalInfo.identifier", "personalInfo.countryOfIssuance", "personalInfo.address.state")
	},
	"upload":                func(s *site) response { s.setMissing(); s.start(); return s.get(home + "/documents/own") },
	"upload for an owner":   func(s *site) response { s.setBusiness(); s.start(); return s.get(home + "/documents/" + s.ownerID()) },
	"upload for a business": func(s *site) response { s.setBusiness(); s.start(); return s.get(home + "/documents/own") },
	"refused upload": func(s *site) response {
		return s.refused(home+"/documents/own", "documentType", "country", "side", "documentNumber", "file")
	},
	"name that is too long": func(s *site) response {
		s.start()
		s.service.err = fault.Invalid(fault.Field{Field: "fullName", Message: "must have at most 255 characters",
			Constraint: map[string]any{"maxLength": 255}})
		return s.post(home+"/details", url.Values{"fullName": {strings.Repeat("A", 256)}})
	},
	"file that is too large": func(s *site) response {
		s.start()
		return s.send(s.uploadRequest(home+"/documents/own", map[string]string{"documentNumber": "C01X00T47"}, "a.jpg",
			strings.NewReader(strings.Repeat("x", maxFile+1))))
	},
	"form after the session": func(s *site) response { return s.post(home+"/details", nil) },
	"form of an earlier session": func(s *site) response {
		s.start()
		return s.post(home+"/details", url.Values{"csrf": {web.FormToken("earlier")}, "customer": {customerMark(s.service.applicant)},
			"fullName": {"Ada Lovelace"}})
	},
	"upload with every document": func(s *site) response { s.addAllDocuments(); s.start(); return s.get(home + "/documents/own") },
	"every document":             func(s *site) response { s.addAllDocuments(); s.start(); return s.get(home) },
	"form of another page":       func(s *site) response { s.start(); return s.post(home+"/submit", url.Values{"csrf": {"x"}}) },
	"form that is too large": func(s *site) response {
		s.start()
		return s.post(home+"/details", url.Values{"x": {strings.Repeat("x", maxForm)}})
	},
	"unreadable form": func(s *site) response {
		s.start()
		return s.post(home+"/details", nil, func(r *http.Request) { r.Header.Set("Content-Type", "x/y;;") })
	},
	"not an owner":      func(s *site) response { s.setBusiness(); s.start(); return s.get(home + "/owners/x") },
	"changed meanwhile": func(s *site) response { return s.failed(fault.New(fault.Conflict, "submitted")) },
	"unavailable":       func(s *site) response { return s.failed(fault.New(fault.ServiceUnavailable, "busy")) },
	"rate limited":      func(s *site) response { return s.failed(fault.New(fault.RateLimited, "slow down")) },
	"internal error":    func(s *site) response { return s.failed(errFailed) },
}

func (s *site) found(types ...customer.CheckErrorType) {
	s.service.applicant.Verification.Status = verification.ResolveErrors
	for _, kind := range types {
		s.service.applicant.Verification.Errors = append(s.service.applicant.Verification.Errors, customer.CheckError{Resource: "x", Type: kind})
	}
}

func (s *site) decided(c customer.Status, v verification.Status) response {
	s.service.applicant.Customer.Status, s.service.applicant.Verification.Status, s.service.applicant.CanChange = c, v, false
	s.start()
	return s.get(home)
}

func (s *site) refused(path string, fields ...string) response {
	s.start()
	var bad []fault.Field
	for _, name := range fields {
		message := "is required"
		if name == "address.line1" {
			message = "must not contain control characters"
		}
		bad = append(bad, fault.Field{Field: name, Message: message})
	}
	s.service.err = fault.Invalid(bad...)
	return s.post(path, url.Values{"fullName": {"Ada <b>"}})
}

func (s *site) failed(err error) response {
	s.start()
	s.service.err = err
	return s.post(home+"/submit", nil)
}

func (s *site) ownerID() string { return s.service.applicant.Owners[0].ID.UUID().String() }

func (s *site) addAllDocuments() {
	for _, kind := range document.Types() {
		side := document.Side("")
		if kind.HasTwoSides() {
			side = document.Back
		}
		s.addDocument(document.Holder{Customer: s.service.applicant.Customer.ID}, kind, side, "a.pdf")
	}
}

func TestPages_RenderInEveryStateAndLanguage(t *testing.T) {
	t.Parallel()
	// Every page has its structure in every state and language, no key of a text is unused, and the
	// content is that of the language.
	used := map[string]bool{}
	for name, show := range states {
		for _, code := range languageCodes {
			s := newSite(t, public)
			s.cookies[languageCookie] = &http.Cookie{Name: languageCookie, Value: code}
			got := show(s)
			got.checkStructure(t, name+" in "+code)
			if lang := attribute(got.elements("html")[0], "lang"); lang != code {
				t.Errorf("%s: the language is %s; want %s", name, lang, code)
			}
			if (got.StatusCode >= 500) != slices.Contains([]string{"internal error", "unavailable"}, name) {
				t.Errorf("%s: status %d; %s", name, got.StatusCode, s.log)
			}
			text := got.body
			for key, value := range textsOf(t, code) {
				if before, _, _ := strings.Cut(value, "{}"); strings.Contains(htmlUnescape(text), before) {
					used[key] = true
				}
			}
		}
	}
	for key := range textsOf(t, "en") {
		if !used[key] {
			t.Errorf("no page has the text %q", key)
		}
	}
}

func textsOf(t *testing.T, code string) map[string]string {
	t.Helper()
	all, err := readLanguages()
	if err != nil {
		t.Fatal(err)
	}
	return all[slices.Index(languageCodes, code)].texts
}

func htmlUnescape(s string) string {
	return strings.NewReplacer("&#39;", "'", "&#34;", `"`, "&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(s)
}

func TestTexts_SameKeysInEveryLanguage(t *testing.T) {
	t.Parallel()
	// Every language has the same keys, no empty text, and the same places for values; every value of a
	// list has a text.
	english := textsOf(t, "en")
	for _, code := range languageCodes[1:] {
		other := textsOf(t, code)
		for key, text := range english {
			translated, ok := other[key]
			if !ok || translated == "" || text == "" || strings.Count(text, "{}") != strings.Count(translated, "{}") {
				t.Errorf("%s: %q is %q in en and %q in %s", key, key, text, translated, code)
			}
		}
		if len(other) != len(english) {
			t.Errorf("%s has %d texts, en %d", code, len(other), len(english))
		}
	}
	var needed []string
	for _, kind := range document.Types() {
		needed = append(needed, "document."+string(kind))
	}
	for _, kind := range customer.CheckErrorTypes {
		needed = append(needed, "found."+string(kind))
	}
	for _, key := range needed {
		if english[key] == "" {
			t.Errorf("there is no text %s", key)
		}
	}
}

func TestPages_LanguageOfBrowserOrChoice(t *testing.T) {
	t.Parallel()
	// The browser's languages decide, in its order, until the customer chooses one on a page.
	for accept, want := range map[string]string{"": "en", "es-MX,es;q=0.9": "es", "fr, es;q=0.5, en;q=0.1": "es", "de": "en",
		"en-GB, es": "en", "*": "en", "\xff": "en"} {
		s := newSite(t, public)
		r, _ := http.NewRequest(http.MethodGet, public+LinkPath+s.service.token, nil)
		r.Header.Set("Accept-Language", accept)
		if got := attribute(s.send(r).elements("html")[0], "lang"); got != want {
			t.Errorf("%q: %s; want %s", accept, got, want)
		}
	}
	s := newSite(t, public)
	s.get(LinkPath + s.service.token + "?lang=es")
	if got := attribute(s.get(LinkPath + s.service.token).elements("html")[0], "lang"); got != "es" {
		t.Errorf("after the choice: %s", got)
	}
	if got := attribute(s.get(LinkPath + s.service.token + "?lang=xx").elements("html")[0], "lang"); got != "es" {
		t.Errorf("after an unknown choice: %s", got)
	}
	// The page after a form that was refused leads to a page, not to where the form was sent.
	if got := states["form of another page"](newSite(t, public)); !strings.Contains(got.body, `href="/verification?lang=es"`) {
		t.Errorf("the error of a form leads to another address: %s", got.body)
	}
}

func TestPages_MissingPartsLeadToForms(t *testing.T) {
	t.Parallel()
	// The overview says for each part what it lacks, and can be submitted only when nothing is missing.
	s := newSite(t, public)
	s.setBusiness()
	s.start()
	got := s.get(home)
	for _, want := range []string{"Tax number", "A document that shows who owns the business", "Grace Hopper", "A passport",
		home + "/documents/" + s.ownerID()} {
		if !strings.Contains(got.body, want) {
			t.Errorf("the page does not have %q", want)
		}
	}
	if strings.Contains(got.body, home+"/submit") {
		t.Error("it can be submitted")
	}
	s.service.applicant.Missing = nil
	if !strings.Contains(s.get(home).body, home+"/submit") {
		t.Error("it cannot be submitted when nothing is missing")
	}
}

func TestPages_DocumentsCanBeRemovedUntilTheyAreSubmitted(t *testing.T) {
	t.Parallel()
	// Each document of the holder that was not submitted has a button of its own. The page of the
	// documents follows, also if the document is gone.
	s := newSite(t, public)
	s.setBusiness()
	own, owner := document.Holder{Customer: s.service.applicant.Customer.ID}, document.Holder{Owner: s.service.applicant.Owners[0].ID}
	s.addDocument(own, "BANK_STATEMENT", "", "statement.pdf")
	s.addDocument(own, "UTILITY_BILL", "", "submitted.pdf")
	s.addDocument(owner, document.Passport, "", "pass.png")
	documents := s.service.applicant.Documents
	documents[len(documents)-2].SubmittedAt = time.Now()
	wanted := documents[len(documents)-3].ID
	s.start()
	page := s.get(home + "/documents/own")
	var offered []string
	for _, n := range page.elements("input") {
		if attribute(n, "name") == "document" {
			offered = append(offered, attribute(n, "value"))
		}
	}
	if !slices.Equal(offered, []string{wanted.UUID().String()}) ||
		!strings.Contains(page.body, `action="/verification/documents/own/remove"`) {
		t.Fatalf("it offers to remove %q\n%s", offered, page.body)
	}

	for _, err := range []error{nil, fault.New(fault.DocumentNotFound, "gone")} {
		s.service.err = err
		if got := s.post(home+"/documents/own/remove", url.Values{"document": offered}); got.Header.Get("Location") != home+"/documents/own" {
			t.Errorf("%v: %d to %q", err, got.StatusCode, got.Header.Get("Location"))
		}
	}
	s.service.err = fault.New(fault.Conflict, "submitted")
	if got := s.post(home+"/documents/own/remove", url.Values{"document": offered}); got.StatusCode != http.StatusConflict ||
		!strings.Contains(got.body, `href="/verification/documents/own?lang=es"`) {
		t.Errorf("submitted meanwhile: %d %s", got.StatusCode, got.body)
	}
	if got := s.post(home+"/documents/own/remove", url.Values{"document": {"x"}}); got.StatusCode != http.StatusBadRequest {
		t.Errorf("malformed: %d", got.StatusCode)
	}
	if want := "remove " + wanted.String(); !slices.Equal(s.service.calls, []string{want, want, want}) {
		t.Errorf("calls %q", s.service.calls)
	}
}

func TestPages_ErrorsAtTheirFields(t *testing.T) {
	t.Parallel()
	// A refused form comes back with what was entered, a summary with links, and each error at its
	// field.
	s := newSite(t, public)
	got := states["refused details"](s)
	if got.StatusCode != http.StatusUnprocessableEntity || !strings.Contains(got.body, `href="#f-birthDate"`) {
		t.Fatalf("%d: %s", got.StatusCode, got.body)
	}
	wrong := 0
	for _, n := range append(got.elements("input"), got.elements("select")...) {
		if attribute(n, "aria-invalid") == "true" {
			wrong++
			if !strings.Contains(attribute(n, "aria-describedby"), "-problem") {
				t.Errorf("%s has no description of its error", attribute(n, "name"))
			}
		}
		if attribute(n, "name") == "fullName" && attribute(n, "value") != "Ada <b>" {
			t.Errorf("the name that was entered is %q", attribute(n, "value"))
		}
	}
	if wrong != 6 {
		t.Errorf("%d fields are marked; want 6", wrong)
	}
}

func TestPages_FormsReachUseCases(t *testing.T) {
	t.Parallel()
	// What is entered reaches the use case without extra spaces, and the overview follows.
	s := newSite(t, public)
	s.start()
	if got := s.post(home+"/details", url.Values{"fullName": {"  Ada   Lovelace "}, "address.line1": {"1 Main St"},
		"address.country": {"US"}}); got.StatusCode != http.StatusSeeOther {
		t.Fatalf("details: %d", got.StatusCode)
	}
	if c := s.service.change; *c.FullName != "Ada Lovelace" || c.BirthDate != nil || (*c.Address).Line1 != "1 Main St" {
		t.Errorf("changed %+v", c)
	}
	s.setBusiness()
	s.post(home+"/owners/"+s.ownerID(), url.Values{"roles": {"UBO", "DIRECTOR"}, "ownershipPercentage": {"40"},
		"personalInfo.firstName": {"Ada"}})
	if o := s.service.owner; !slices.Equal(o.Roles, []string{"UBO", "DIRECTOR"}) || o.OwnershipPercentage != 40 ||
		o.Person.FirstName != "Ada" {
		t.Errorf("owner %+v", o)
	}
	s.send(s.uploadRequest(home+"/documents/own", map[string]string{"documentType": "PASSPORT", "country": "DE"}, "../../pass.png",
		strings.NewReader("x")))
	if d := s.service.document; d.Type != document.Passport || d.Country != "DE" || d.File == nil || d.File.Size != 1 {
		t.Errorf("document %+v", d)
	}
	s.post(home+"/submit", nil)
	want := []string{"update", "update " + numbered(ident.BeneficialOwner{}, 9).String(), "upload", "submit"}
	if !slices.Equal(s.service.calls, want) {
		t.Errorf("calls %q; want %q", s.service.calls, want)
	}
}

func TestPages_ResultAndReturn(t *testing.T) {
	t.Parallel()
	// While it is checked the page shows the result by itself, with the script, and nothing else moves
	// before the customer does. The way back goes to the platform, if there is an address, and nowhere
	// else.
	for name, show := range states {
		got := show(newSite(t, public))
		if waits := strings.Contains(got.body, "data-automatic"); waits != (name == "in progress" || name == "in review") {
			t.Errorf("%s: waits %t", name, waits)
		}
		if strings.Contains(got.body, `http-equiv="refresh"`) || got.Header.Get("Refresh") != "" {
			t.Errorf("%s goes to another page by itself", name)
		}
		if returns := strings.Contains(got.body, home+"/return"); returns != (name == "approved, with a way back") {
			t.Errorf("%s: returns %t", name, returns)
		}
	}
	s := newSite(t, public)
	s.service.applicant.ReturnTo = "https://example.com/done?a=1"
	s.start()
	if got := s.get(home + "/return?redirectUri=https://evil.test"); got.Header.Get("Location") != "https://example.com/done?a=1" {
		t.Errorf("returned to %q", got.Header.Get("Location"))
	}
	s.service.applicant.ReturnTo = "" // no longer allowed
	if got := s.get(home + "/return"); got.Header.Get("Location") != home {
		t.Errorf("without an allowed address: %q", got.Header.Get("Location"))
	}
}
