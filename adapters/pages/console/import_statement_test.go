package console

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"causeway/adapters/pages/web"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/person"
	"causeway/core/reconcile"
)

// importPage is the page that imports a statement.
var importPage = base + "/" + importPath

// upload sends the form of a statement as a browser does: its fields, and the file last.
func (s *site) upload(page, token string, fields [][2]string, file io.Reader,
	edits ...func(*http.Request)) response {
	s.t.Helper()
	var head bytes.Buffer
	w := multipart.NewWriter(&head)
	for _, field := range append([][2]string{{"csrf", token}}, fields...) {
		_ = w.WriteField(field[0], field[1])
	}
	if file == nil {
		file = strings.NewReader("")
	} else {
		_, _ = w.CreateFormFile("file", "statement.xml")
	}
	body := io.MultiReader(&head, file, strings.NewReader("\r\n--"+w.Boundary()+"--\r\n"))
	r := httptest.NewRequest(http.MethodPost, s.origin+page, body)
	r.Header.Set("Content-Type", w.FormDataContentType())
	r.Header.Set("Origin", s.origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	for _, edit := range edits {
		edit(r)
	}
	return s.send(r)
}

func TestImportStatement_ReadsTheFile(t *testing.T) {
	t.Parallel()
	// The file is imported as it arrives, with what the form says of it and as the person, which is recorded before. The page of the
	// statement follows or, for a file with several accounts, the list.
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	if got := s.get(base + "/reconciliations"); !strings.Contains(got.body, importPage) {
		t.Errorf("no link: %s", got.body)
	}
	fields := [][2]string{{"format", "csv"}, {"account", " rails/RTP "}, {"currency", "USD"}, {"map", "date=Booked"}}
	got := s.upload(importPage, web.FormToken(s.secret), fields, strings.NewReader("1;2;3"))
	want := reconciliation.ImportRequest{Platform: ownPlatform, Path: "rails/RTP", Currency: "USD", Format: "csv", Layout: "date=Booked",
		By: s.statements.imported.By}
	recorded := slices.IndexFunc(s.calls.log, func(call string) bool {
		return strings.HasPrefix(call, "ada@acme.example: IMPORT_STATEMENT rails/RTP USD")
	})
	if got.Header.Get("Location") != base+"/reconciliations/"+runID.UUID().String() || s.statements.imported != want ||
		!strings.HasPrefix(want.By, "Token:") || recorded < 0 || slices.Index(s.calls.log, "import 5 bytes") < recorded {
		t.Errorf("%d to %s, imported %+v, calls %q", got.StatusCode, got.Header.Get("Location"), s.statements.imported, s.calls.log)
	}
	s.statements.others = []reconcile.Run{{}}
	if got := s.upload(importPage, web.FormToken(s.secret), fields, strings.NewReader("1")); got.Header.Get("Location") !=
		base+"/reconciliations" {
		t.Errorf("several accounts: %d to %s", got.StatusCode, got.Header.Get("Location"))
	}
}

func TestImportStatement_Refused(t *testing.T) {
	t.Parallel()
	// What is refused says why beside what was entered, and is recorded. A form without a file, one of another site, of who does not keep
	// the books, too long before its file, or for another page imports nothing; nor does a file that is too large.
	fields := [][2]string{{"account", "rails/RTP"}}
	s := newSite(t).fill().as(person.Grant{Role: person.Finance})
	s.statements.refusal = fault.Invalid(fault.Field{Field: "file", Message: "has no statement"})
	got := s.upload(importPage, web.FormToken(s.secret), fields, strings.NewReader("x"))
	if got.StatusCode != http.StatusBadRequest || !strings.Contains(got.body, "file has no statement.") ||
		!strings.Contains(got.body, `value="rails/RTP"`) || !slices.ContainsFunc(s.calls.log, func(call string) bool {
		return strings.HasPrefix(call, "ada@acme.example: IMPORT_STATEMENT rails/RTP refused, recorded before true")
	}) {
		t.Errorf("%d %q %s", got.StatusCode, s.calls.log, got.body)
	}
	zeros := func(n int64) io.Reader { return io.LimitReader(zeroReader{}, n) }
	for name, test := range map[string]struct {
		page, token string
		role        person.Role
		fields      [][2]string
		file        io.Reader
		status      int
	}{
		"no file":      {importPage, "", person.Finance, fields, nil, http.StatusBadRequest},
		"forged":       {importPage, "x", person.Finance, fields, strings.NewReader("x"), http.StatusForbidden},
		"a viewer":     {importPage, "", person.Viewer, fields, strings.NewReader("x"), http.StatusForbidden},
		"long fields":  {importPage, "", person.Finance, [][2]string{{"map", strings.Repeat("x", maxForm)}}, strings.NewReader("x"), 400},
		"another page": {base + "/make-journals", "", person.Finance, fields, strings.NewReader("x"), http.StatusForbidden},
		"too large":    {importPage, "", person.Finance, fields, zeros(maxStatement + 1), http.StatusRequestEntityTooLarge},
	} {
		s := newSite(t).fill().as(person.Grant{Role: test.role})
		if test.token == "" {
			test.token = web.FormToken(s.secret)
		}
		got := s.upload(test.page, test.token, test.fields, test.file)
		isImported := slices.ContainsFunc(s.calls.log, func(call string) bool { return strings.HasPrefix(call, "import ") })
		if got.StatusCode != test.status || isImported {
			t.Errorf("%s: %d, calls %q", name, got.StatusCode, s.calls.log)
		}
	}
}

// zeroReader reads zeros without end.
type zeroReader struct{}

func (zeroReader) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
