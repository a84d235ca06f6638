package pages

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"causeway/adapters/pages/web"
	"causeway/core/fault"
	"causeway/core/ident"
)

// value returns what an input of a page has.
func (r response) value(name string) string {
	for _, n := range r.elements("input") {
		if attribute(n, "name") == name {
			return attribute(n, "value")
		}
	}
	return ""
}

func TestUpload_LargeFileKeepsWhatWasEntered(t *testing.T) {
	t.Parallel()
	// A file that is too large is read to its end, as browsers need, and the form comes back with what
	// else was entered. Beyond what is read, the page says the same.
	for size, want := range map[int]string{maxFile + 1: "C01X00T47", 11_000_000: "C01X00T47", maxRead + 1: ""} {
		s := newSite(t, public)
		s.start()
		file := strings.NewReader(strings.Repeat("x", size))
		got := s.send(s.uploadRequest(home+"/documents/own", map[string]string{"documentNumber": "C01X00T47"}, "photo.jpg", file))
		if got.StatusCode != http.StatusRequestEntityTooLarge || got.value("documentNumber") != want ||
			!strings.Contains(got.body, "at most 10 MB") {
			t.Errorf("%d bytes: %d\n%s", size, got.StatusCode, got.body)
		}
		if len(s.service.calls) > 0 {
			t.Errorf("%d bytes: %q", size, s.service.calls)
		}
	}
	s := newSite(t, public)
	s.start()
	s.send(s.uploadRequest(home+"/documents/own", nil, "photo.jpg", strings.NewReader(strings.Repeat("x", maxFile))))
	if f := s.service.document.File; f == nil || f.Size != maxFile {
		t.Errorf("a file of the largest size: %+v", f)
	}
}

func TestUpload_FieldsAndFilesAreLimited(t *testing.T) {
	t.Parallel()
	// The fields beside a file have the limit of other forms, and there is one file.
	s := newSite(t, public)
	s.start()
	if got := s.send(s.uploadRequest(home+"/documents/own", map[string]string{"documentNumber": strings.Repeat("x", maxForm)}, "a.pdf",
		strings.NewReader("x"))); got.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("long fields: %d", got.StatusCode)
	}
	for name, parts := range map[string]string{
		"many parts": strings.Repeat("--x\r\nContent-Disposition: form-data; name=\"side\"\r\n\r\n\r\n", maxParts),
		"long name":  "--x\r\nContent-Disposition: form-data; name=\"" + strings.Repeat("x", maxForm+1) + "\"\r\n\r\n\r\n",
	} {
		r := s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader("x"))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		r.Body = io.NopCloser(strings.NewReader(parts + "--x--\r\n"))
		if got := s.send(r); got.StatusCode != http.StatusRequestEntityTooLarge {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
	}
	two := "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.pdf\"\r\n\r\nx\r\n"
	other := strings.Replace(two, `"file"`, `"other"`, 1)
	for name, body := range map[string]string{"two files": two + two, "another file": other} {
		r := s.uploadRequest(home+"/documents/own", nil, "a.pdf", strings.NewReader("x"))
		r.Header.Set("Content-Type", "multipart/form-data; boundary=x")
		r.Body = io.NopCloser(strings.NewReader(body + "--x--\r\n"))
		if got := s.send(r); got.StatusCode != http.StatusBadRequest {
			t.Errorf("%s: %d", name, got.StatusCode)
		}
	}
	if len(s.service.calls) > 0 {
		t.Errorf("calls %q", s.service.calls)
	}
}

func TestForms_EarlierSessionLosesNothing(t *testing.T) {
	t.Parallel()
	// A form that is sent after the session has ended says how to go on. With a new session of the same
	// customer it comes back as it was entered, and changes something only when it is sent again. The
	// form of another customer does not come back, and one without the token of its page neither.
	s := newSite(t, public)
	if got := s.post(home+"/details", nil); got.StatusCode != http.StatusForbidden || !strings.Contains(got.body, "load this page again") {
		t.Errorf("after the session: %d\n%s", got.StatusCode, got.body)
	}
	s.setBusiness()
	s.start()
	mine, other := customerMark(s.service.applicant), s.service.applicant
	other.Customer.ID.SetUUID(numbered(ident.Customer{}, 77).UUID())
	for path, field := range map[string]string{"/details": "businessInfo.legalName", "/owners/new": "personalInfo.firstName",
		"/owners/" + s.ownerID(): "personalInfo.lastName"} {
		sent := url.Values{"csrf": {web.FormToken("earlier")}, "customer": {mine}, field: {"Entered"}}
		got := s.post(home+path, sent)
		if got.StatusCode != http.StatusUnprocessableEntity || got.value(field) != "Entered" ||
			got.value("csrf") != web.FormToken(s.service.secret) || !strings.Contains(got.body, "a new link meanwhile") {
			t.Errorf("%s: %d\n%s", path, got.StatusCode, got.body)
		}
		for name, customer := range map[string]string{"another customer": customerMark(other), "no customer": ""} {
			sent.Set("customer", customer)
			if got := s.post(home+path, sent); got.StatusCode != http.StatusForbidden || strings.Contains(got.body, "Entered") {
				t.Errorf("%s of %s: %d", path, name, got.StatusCode)
			}
		}
	}
	upload := s.uploadRequest(home+"/documents/own", map[string]string{"csrf": "x", "customer": mine, "issuingAuthority": "Entered"}, "a.pdf",
		strings.NewReader("x"))
	s.service.secret += "-other"
	s.cookies["__Host-verification"].Value = s.service.secret
	if got := s.send(upload); got.StatusCode != http.StatusUnprocessableEntity || len(got.elements("form")) != 1 {
		t.Errorf("an upload: %d\n%s", got.StatusCode, got.body)
	}
	if got := s.post(home+"/submit", url.Values{"csrf": {"x"}, "customer": {mine}}); got.StatusCode != http.StatusForbidden {
		t.Errorf("submit: %d", got.StatusCode)
	}
	s.service.applicant.CanChange = false
	if got := s.post(home+"/details", url.Values{"csrf": {"x"}, "customer": {mine}}); got.StatusCode != http.StatusForbidden {
		t.Errorf("once it is submitted: %d", got.StatusCode)
	}
	if len(s.service.calls) > 0 {
		t.Errorf("calls %q", s.service.calls)
	}
}

func TestForms_DatesInAnyOrder(t *testing.T) {
	t.Parallel()
	// A date is understood in every order in which it can have one meaning only.
	for sent, want := range map[string]string{
		"1990-02-13": "1990-02-13", "1990/2/13": "1990-02-13", "1990.02.13": "1990-02-13", "13/02/1990": "1990-02-13", "02/13/1990": "1990-02-13",
		"13.2.1990":  "1990-02-13",
		"13 02 1990": "1990-02-13", "3-3-1990": "1990-03-03", "03/04/1990": "03/04/1990", "13/02/90": "13/02/90",
		"13 February 1990": "13 February 1990", "31/31/1990": "1990-31-31",
	} {
		s := newSite(t, public)
		s.start()
		s.post(home+"/details", url.Values{"birthDate": {sent}})
		if got := s.service.change.BirthDate; got == nil || *got != want {
			t.Errorf("%s: %v; want %s", sent, got, want)
		}
		s.setBusiness()
		s.post(home+"/owners/new", url.Values{"personalInfo.birthDate": {sent}})
		if got := s.service.owner.Person.BirthDate; got != want {
			t.Errorf("%s of an owner: %s; want %s", sent, got, want)
		}
		s.post(home+"/details", url.Values{"businessInfo.incorporatedOn": {sent}})
		if got := s.service.change.Business; got == nil || (*got).IncorporatedOn == nil || *(*got).IncorporatedOn != want {
			t.Errorf("%s of a business: %+v; want %s", sent, got, want)
		}
	}
}

func TestForms_NamesOfEveryScript(t *testing.T) {
	t.Parallel()
	// Names that are written from right to left stand apart from the text around them, and a refused
	// name says why: a wrong letter, or too many.
	s := newSite(t, public)
	s.setBusiness()
	const name = "ليلى חדד"
	s.service.applicant.PlatformName, s.service.applicant.Owners[0].Person.FirstName = name, name
	s.start()
	isolated := 0
	got := s.get(home)
	for _, n := range got.elements("bdi") {
		if strings.Contains(n.FirstChild.Data, "חדד") {
			isolated++
		}
	}
	if isolated != 3 {
		t.Errorf("%d names are isolated; want that of the platform and two of the owner\n%s", isolated, got.body)
	}
	for _, n := range s.get(home + "/owners/" + s.ownerID()).elements("input") {
		if kind := attribute(n, "type"); (kind == "text" || kind == "email") && attribute(n, "dir") != "auto" {
			t.Errorf("%s has one direction", attribute(n, "name"))
		}
	}
	s.service.err = fault.Invalid(fault.Field{Field: "personalInfo.firstName", Message: "must be a name"},
		fault.Field{Field: "personalInfo.lastName", Message: "must have at most 255 characters", Constraint: map[string]any{"maxLength": 255}})
	if got := s.post(home+"/owners/new", nil); !strings.Contains(got.body, "Enter the first name, with letters") ||
		!strings.Contains(got.body, "Last name: Use at most 255 characters.") {
		t.Errorf("refused names: %s", got.body)
	}
}
