package document_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"causeway/core/document"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
)

var (
	noon     = time.Date(2026, 3, 14, 12, 0, 0, 0, time.UTC)
	platform = id[ident.Platform](1)
	holder   = document.Holder{Customer: id[ident.Customer](2)}
	file     = document.File{Name: "a.pdf", ContentType: document.PDF, Size: 10, Blob: uuid.UUID{15: 3}, Key: []byte("key")}
)

// id returns the id with a number.
func id[T interface {
	Parse(string) (T, error)
	Prefix() string
}](n int) T {
	var none T
	made, err := none.Parse(fmt.Sprintf("%s:00000000-0000-0000-0000-%012d", none.Prefix(), n))
	if err != nil {
		panic(err)
	}
	return made
}

func TestDetails_EveryInvalidFieldIsListed(t *testing.T) {
	t.Parallel()
	// The fields depend on the type: identity documents need a number and an authority, and those with
	// two sides a side. All invalid fields are listed.
	passport := document.Details{Type: document.Passport, Country: "DE", Number: "C01X00T47", IssuingAuthority: "Stadt Köln"}
	with := func(d document.Details, change func(*document.Details)) document.Details {
		change(&d)
		return d
	}
	for name, c := range map[string]struct {
		details document.Details
		want    string
	}{
		"a passport":                   {passport, ""},
		"the photo page of a passport": {with(passport, func(d *document.Details) { d.Side = document.Front }), ""},
		"the back of a passport":       {with(passport, func(d *document.Details) { d.Side = document.Back }), "side"},
		"a licence without a side":     {with(passport, func(d *document.Details) { d.Type = document.DriversLicense }), "side"},
		"the back of an id card":       {with(passport, func(d *document.Details) { d.Type, d.Side = document.NationalID, document.Back }), ""},
		"an id card without a number": {document.Details{Type: document.NationalID, Side: document.Front, Country: "DE"},
			"documentNumber issuingAuthority"},
		"a bill":                        {document.Details{Type: "UTILITY_BILL", Country: "US"}, ""},
		"a bill with a side and number": {document.Details{Type: "UTILITY_BILL", Country: "US", Side: document.Front, Number: "1"}, ""},
		"nothing":                       {document.Details{}, "documentType country"},
		"nothing that is known":         {document.Details{Type: "DIPLOMA", Side: "LEFT", Country: "us"}, "documentType country side"},
		"a number that is too long":     {with(passport, func(d *document.Details) { d.Number = strings.Repeat("1", 65) }), "documentNumber"},
		"an authority with a line end":  {with(passport, func(d *document.Details) { d.IssuingAuthority = "a\nb" }), "issuingAuthority"},
	} {
		var bad party.Problems
		c.details.Check(&bad)
		var got []string
		for _, f := range bad.Fields {
			got = append(got, f.Field)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestParseHolder(t *testing.T) {
	t.Parallel()
	// A holder is a customer or a beneficial owner, and is written as its id.
	for _, text := range []string{holder.String(), document.Holder{Owner: id[ident.BeneficialOwner](7)}.String()} {
		h, err := document.ParseHolder(text)
		if err != nil || h.String() != text || h.IsZero() || !strings.HasSuffix(text, h.UUID().String()) {
			t.Errorf("%s is %s, %v", text, h, err)
		}
	}
	for _, text := range []string{"", "Customer:", "Quote:" + uuid.Max.String(), uuid.Max.String(), "Customer:" + uuid.Nil.String()} {
		if h, err := document.ParseHolder(text); err == nil {
			t.Errorf("%q is accepted as %s", text, h)
		}
	}
}

func TestTypes_EveryCategoryHasKnownTypes(t *testing.T) {
	t.Parallel()
	// The types of all categories are types of the interface, each once.
	known := map[document.Type]bool{}
	for _, name := range document.Types() {
		if known[name] {
			t.Errorf("%s is listed twice", name)
		}
		known[name] = true
	}
	for category := document.Identity; category <= document.ProofOfAddress; category++ {
		if len(document.TypesOf(category)) < 3 {
			t.Errorf("category %d has %v", category, document.TypesOf(category))
		}
		for _, name := range document.TypesOf(category) {
			if !known[name] || !name.In(category) {
				t.Errorf("%s of category %d is unknown", name, category)
			}
		}
	}
	if document.Type("SELFIE").In(document.Identity) || !document.Type("TRUST_AGREEMENT").In(document.ControlStructure) ||
		!document.Type("TRUST_AGREEMENT").In(document.OwnershipStructure) {
		t.Error("a type is in a wrong category")
	}
}

func existing(current, superseded int) []document.Document {
	list := make([]document.Document, current+superseded)
	for i := range list[current:] {
		list[current+i].SupersededBy = id[ident.Document](9)
	}
	return list
}

func TestNew_NumberOfDocumentsIsBounded(t *testing.T) {
	t.Parallel()
	// A holder has a maximum number of documents, and of files in all.
	for name, c := range map[string]struct {
		current, superseded int
		refused             bool
	}{
		"none":                        {0, 0, false},
		"one less than the maximum":   {document.MaxPerHolder - 1, 0, false},
		"the maximum":                 {document.MaxPerHolder, 0, true},
		"many that were replaced":     {1, document.MaxPerHolder, false},
		"too many that were replaced": {1, document.MaxFilesPerHolder - 1, true},
	} {
		d, err := document.New(id[ident.Document](4), platform, holder, document.Details{Type: "OTHER", Country: "US"}, file,
			existing(c.current, c.superseded), noon)
		if fault.Is(err, fault.Conflict) != c.refused || (err == nil) == c.refused {
			t.Errorf("%s: %v", name, err)
		}
		if err == nil && (d.Holder != holder || d.File.Blob != file.Blob || !d.CreatedAt.Equal(noon) || !d.SubmittedAt.IsZero()) {
			t.Errorf("%s: %+v", name, d)
		}
	}
	if _, err := document.New(id[ident.Document](4), platform, holder, document.Details{}, document.File{}, nil, noon); err == nil {
		t.Error("a document without a file was made")
	}
}

func TestReplace_KeepsSubmittedFile(t *testing.T) {
	t.Parallel()
	// The new file takes the place of the old one. A file that was submitted is kept under an id of
	// its own; any other is not needed any more.
	d, err := document.New(id[ident.Document](4), platform, holder, document.Details{Type: "OTHER", Country: "US"}, file, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	other, later := file, noon.Add(time.Hour)
	other.Blob = uuid.UUID{15: 8}
	for _, submitted := range []time.Time{{}, noon.Add(time.Minute)} {
		d.SubmittedAt = submitted

		next, kept, err := d.Replace(document.Details{Type: "SELFIE", Country: "DE"}, other, id[ident.Document](5), existing(1, 0), later)

		if err != nil || next.ID != d.ID || next.Type != "SELFIE" || next.File.Blob != other.Blob || !next.SubmittedAt.IsZero() ||
			!next.UpdatedAt.Equal(later) || !next.CreatedAt.Equal(noon) {
			t.Errorf("replaced by %+v, %v", next, err)
		}
		if submitted.IsZero() != (kept == nil) {
			t.Fatalf("submitted %s: kept %+v", submitted, kept)
		}
		if kept != nil && (kept.ID != id[ident.Document](5) || kept.SupersededBy != d.ID || kept.File.Blob != file.Blob || kept.Type != "OTHER" ||
			kept.SubmittedAt != submitted) {
			t.Errorf("kept %+v", kept)
		}
	}
	if _, _, err := d.Replace(d.Details, other, id[ident.Document](5), existing(1, document.MaxFilesPerHolder), later); !fault.Is(err,
		fault.Conflict) {
		t.Errorf("one file too many: %v", err)
	}
}

func TestCheckDelete_RefusesSubmitted(t *testing.T) {
	t.Parallel()
	// A document can be deleted until it is submitted.
	d := document.Document{ID: id[ident.Document](4)}
	if err := d.CheckDelete(); err != nil {
		t.Error(err)
	}
	d.SubmittedAt = noon
	if err := d.CheckDelete(); !fault.Is(err, fault.Conflict) {
		t.Errorf("got %v", err)
	}
}

func TestCleanFileName_Examples(t *testing.T) {
	t.Parallel()
	// A name has no folders, no control or invisible characters, and the extension of its type.
	for name, want := range map[string]string{
		"passport.pdf":              "passport.pdf",
		"Ausweis Köln.PDF":          "Ausweis Köln.PDF",
		"../../etc/passwd":          "passwd.pdf",
		`C:\scans\front.pdf`:        "front.pdf",
		"a\x00b\r\nc.pdf":           "abc.pdf",
		"invoice\u202efdp.exe":      "invoicefdp.exe.pdf",
		"":                          "document.pdf",
		"..":                        "document.pdf",
		".pdf":                      "document.pdf",
		"CON?.pdf ":                 "CON_.pdf",
		"photo.jpg":                 "photo.jpg.pdf",
		strings.Repeat("é", 300):    strings.Repeat("é", 98) + ".pdf",
		"\xff\xfe.pdf":              "document.pdf",
		"tab\tand\u00a0nbsp<x>.pdf": "taband nbsp_x_.pdf",
	} {
		if got := document.CleanFileName(name, document.PDF); got != want {
			t.Errorf("%q is %q, want %q", name, got, want)
		}
	}
}

func TestCleanFileName_Properties(t *testing.T) {
	t.Parallel()
	// Whatever the name, the result is short, valid, without folders, and stays as it is when it is
	// cleaned again.
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(), rapid.StringMatching(`[./\\a. ]{0,300}(\.PDF|\.pdf)?`)).Draw(t, "name")
		got := document.CleanFileName(name, document.PDF)
		if len(got) > 200 || !utf8.ValidString(got) || strings.ContainsAny(got, "/\\\x00\n") || !strings.EqualFold(got[len(got)-4:], ".pdf") ||
			len(got) < 5 {
			t.Fatalf("%q is %q", name, got)
		}
		if again := document.CleanFileName(got, document.PDF); again != got {
			t.Fatalf("%q, cleaned again, is %q", got, again)
		}
	})
}
