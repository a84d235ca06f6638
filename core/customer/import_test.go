package customer_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"causeway/core/customer"
	"causeway/core/fault"
	"causeway/core/ident"
)

const (
	individualHeader = "umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country"
	individualRow    = "$ana@uma.acme.test,user-1,INDIVIDUAL,Ana Ng,1990-02-28,1 Main St,Austin,TX,78701,US"
	businessHeader   = "umaAddress,platformCustomerId,customerType,businessLegalName,addressLine1,city,state,postalCode,country,businessRegistrationNumber,businessTaxId"
	businessRow      = "$acme@uma.acme.test,biz-1,BUSINESS,Acme & Sons GmbH,Hauptstr. 1,Berlin,,10115,DE,HRB 1,DE1"
)

func fields(text string) []string { return strings.Split(text, ",") }

func importHeader(t *testing.T, text string) customer.ImportHeader {
	t.Helper()
	h, errors := customer.ParseImportHeader(fields(text))
	if len(errors) > 0 {
		t.Fatal(errors)
	}
	return h
}

func TestImport_Transitions(t *testing.T) {
	t.Parallel()
	// An import is uploaded once, proceeds until all its rows are processed, and changes no more. A
	// file without rows has failed.
	uploading := customer.Import{Status: customer.ImportUploading}
	after := func(i customer.Import, err error) customer.Import {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return i
	}
	pending := after(uploading.Uploaded(3, now))
	processing := after(pending.Proceed(1, 0, now))
	completed := after(processing.Proceed(1, 1, now.Add(time.Minute)))
	refused := after(uploading.Uploaded(0, now))
	failed := after(refused.Proceed(0, 0, now))

	for _, c := range []struct {
		got       customer.Import
		status    customer.ImportStatus
		processed int
		completed time.Time
	}{
		{pending, customer.ImportPending, 0, time.Time{}},
		{processing, customer.ImportProcessing, 1, time.Time{}},
		{completed, customer.ImportCompleted, 3, now.Add(time.Minute)},
		{after(pending.Proceed(0, 3, now)), customer.ImportCompleted, 3, now},
		{after(processing.Proceed(1, 0, now)), customer.ImportProcessing, 2, time.Time{}},
		{failed, customer.ImportFailed, 0, now},
	} {
		if c.got.Status != c.status || c.got.Processed() != c.processed || !c.got.CompletedAt.Equal(c.completed) ||
			c.got.Ended() == c.completed.IsZero() {
			t.Errorf("%+v, want %s with %d rows", c.got, c.status, c.processed)
		}
	}
	for name, change := range map[string]func() (customer.Import, error){
		"rows of an upload":        func() (customer.Import, error) { return uploading.Proceed(0, 0, now) },
		"rows of a completed one":  func() (customer.Import, error) { return completed.Proceed(0, 0, now) },
		"rows of a failed one":     func() (customer.Import, error) { return failed.Proceed(0, 0, now) },
		"more rows than there are": func() (customer.Import, error) { return processing.Proceed(2, 1, now) },
		"no more rows":             func() (customer.Import, error) { return processing.Proceed(0, 0, now) },
		"a second upload":          func() (customer.Import, error) { return pending.Uploaded(3, now) },
		"an upload while it runs":  func() (customer.Import, error) { return processing.Uploaded(3, now) },
		"an upload when completed": func() (customer.Import, error) { return completed.Uploaded(3, now) },
		"an upload when failed":    func() (customer.Import, error) { return failed.Uploaded(3, now) },
	} {
		if got, err := change(); err == nil {
			t.Errorf("%s: accepted as %+v", name, got)
		}
	}
}

func TestParseImportHeader_Accepts(t *testing.T) {
	t.Parallel()
	// Columns may be in any order and case; those that are not used are listed. A file of businesses
	// needs no columns of individuals, and the other way round.
	shuffled := fields(individualHeader)
	slices.Reverse(shuffled)
	for name, c := range map[string]struct {
		header  string
		ignored []string
	}{
		"individuals":   {individualHeader, nil},
		"businesses":    {businessHeader, nil},
		"both":          {individualHeader + ",businessLegalName", nil},
		"another order": {strings.Join(shuffled, ","), nil},
		"another case":  {strings.ToUpper(individualHeader), nil},
		"spaces":        {strings.ReplaceAll(individualHeader, ",", " , "), nil},
		"columns not used": {individualHeader + ",description,Shoe size,,platformAccountId",
			[]string{"description", "Shoe size", "platformAccountId"}},
		"known and unused": {individualHeader + ",email,region,nationality,addressLine2", nil},
	} {
		h, errors := customer.ParseImportHeader(fields(c.header))
		if len(errors) > 0 || !slices.Equal(h.Ignored, c.ignored) {
			t.Errorf("%s: ignored %q, errors %+v", name, h.Ignored, errors)
		}
	}
}

func TestParseImportHeader_NamesEveryError(t *testing.T) {
	t.Parallel()
	// Each missing or repeated column is an error that names it.
	for name, c := range map[string]struct {
		header string
		want   []string
	}{
		"missing": {strings.Replace(individualHeader, "city,", "", 1), []string{"missing_required_column city"}},
		"several": {strings.Replace(strings.Replace(individualHeader, "city,", "", 1), "umaAddress,", "", 1),
			[]string{"missing_required_column umaAddress", "missing_required_column city"}},
		"birth date of persons": {strings.Replace(individualHeader, "birthDate,", "", 1), []string{"missing_required_column birthDate"}},
		"neither name":          {strings.Replace(businessHeader, "businessLegalName,", "", 1), []string{"missing_required_column fullName"}},
		"twice":                 {individualHeader + ",City", []string{"duplicate_column city"}},
		"semicolons":            {strings.ReplaceAll(individualHeader, ",", ";"), []string{"malformed_csv "}},
		"too many":              {individualHeader + strings.Repeat(",x", 200), []string{"malformed_csv "}},
	} {
		_, errors := customer.ParseImportHeader(fields(c.header))
		var got []string
		for _, e := range errors {
			got = append(got, e.Reason+" "+e.Column)
			if e.Row != 0 || e.CorrelationID() != "file" || e.Code != fault.InvalidRequestFormat || e.Message == "" {
				t.Errorf("%s: %+v", name, e)
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestImportHeader_CreatesAsRequestDoes(t *testing.T) {
	t.Parallel()
	// A row becomes the same customer as a request with its values.
	for name, c := range map[string]struct {
		header, row string
		request     customer.Request
	}{
		"individual": {individualHeader + ",email,region,nationality,addressLine2", individualRow + ",ana@example.com,US,PH,Flat 2",
			func() customer.Request {
				r := individualRequest()
				r.Currencies, r.UMAAddress = nil, "$ana@uma.acme.test"
				return r
			}()},
		"business": {businessHeader, businessRow, func() customer.Request {
			r := businessRequest()
			r.Region, r.UMAAddress, r.Address.State = "", "$acme@uma.acme.test", ""
			r.Business = &customer.BusinessInfo{LegalName: "Acme & Sons GmbH", RegistrationNumber: "HRB 1", TaxID: "DE1"}
			return r
		}()},
	} {
		want, err := create(c.request)
		if err != nil {
			t.Fatal(err)
		}
		got, err := importHeader(t, c.header).Create(fields(c.row), sandboxPlatform, customerID, now)
		if err != nil || fmt.Sprintf("%+v", flat(got)) != fmt.Sprintf("%+v", flat(want)) {
			t.Errorf("%s: %v\n got %+v\nwant %+v", name, err, flat(got), flat(want))
		}
	}
}

// flat returns what a customer contains, without pointers.
func flat(c customer.Customer) []any {
	address, business := *c.Address, customer.BusinessInfo{}
	if c.Business != nil {
		business = *c.Business
	}
	c.Address, c.Business = nil, nil
	return []any{c, address, business}
}

func TestImportHeader_NamesInvalidColumns(t *testing.T) {
	t.Parallel()
	// Invalid values are reported by the name of their column.
	for name, c := range map[string]struct {
		header, row string
		want        []string
	}{
		"empty": {individualHeader, ",,INDIVIDUAL,,,,,,,", []string{"umaAddress", "platformCustomerId", "fullName", "birthDate",
			"addressLine1", "city", "postalCode", "country"}},
		"type":               {individualHeader, strings.Replace(individualRow, "INDIVIDUAL", "PERSON", 1), []string{"customerType"}},
		"no type":            {individualHeader, strings.Replace(individualRow, "INDIVIDUAL", "", 1), []string{"customerType"}},
		"address":            {individualHeader, strings.Replace(individualRow, ",TX,78701,US", ",,78701,US", 1), []string{"state"}},
		"date":               {individualHeader, strings.Replace(individualRow, "1990-02-28", "28.2.1990", 1), []string{"birthDate"}},
		"business in person": {individualHeader, strings.Replace(individualRow, "INDIVIDUAL", "BUSINESS", 1), []string{"businessLegalName"}},
		"tax id":             {businessHeader, businessRow + strings.Repeat("1", 70), []string{"businessTaxId"}},
		"too few values":     {individualHeader, "$ana@uma.acme.test,user-1", []string{"row"}},
		"too many values":    {individualHeader, individualRow + ",x", []string{"row"}},
	} {
		_, err := importHeader(t, c.header).Create(fields(c.row), sandboxPlatform, customerID, now)
		refused, _ := fault.As(err)
		if refused == nil || refused.Code != fault.InvalidInput {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []string
		for _, f := range refused.Fields {
			got = append(got, f.Field)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if _, err := importHeader(t, individualHeader).Create(fields(individualRow), sandboxPlatform, ident.Customer{}, now); err == nil {
		t.Error("a customer without an id was created")
	}
}

func TestImportHeader_RemovesProtectionFromFormulas(t *testing.T) {
	t.Parallel()
	// An apostrophe before what a spreadsheet takes for a formula is removed, and no other.
	h := importHeader(t, individualHeader)
	for cell, want := range map[string]string{"'+1": "+1", "'=1": "=1", "'-1": "-1", "'@a": "@a", "'s-Gravenhage": "'s-Gravenhage", "'": "'",
		"+1": "+1", " x ": "x"} {
		row := fields(individualRow)
		row[1] = cell
		if got := h.PlatformCustomerID(row); got != want {
			t.Errorf("%q: %q, want %q", cell, got, want)
		}
	}
}

func TestImportHeader_TakesNoIDFromShiftedRow(t *testing.T) {
	t.Parallel()
	// A row with a comma too many, or too few values, is not named by what it has in place of the id: that
	// may be a name or a birth date.
	h := importHeader(t, individualHeader)
	row := fields(individualRow)
	for _, shifted := range [][]string{append([]string{"Silva"}, row...), row[1:]} {
		if got := h.PlatformCustomerID(shifted); got != "" {
			t.Errorf("the id is %q", got)
		}
	}
}

func TestNewImportRowError(t *testing.T) {
	t.Parallel()
	// An error is found by the platform's id of the customer if that is valid, and else by the number
	// of the row. One invalid value is in the message.
	one := fault.Invalid(fault.Field{Field: "city", Message: "is required"})
	for _, c := range []struct {
		id      string
		refused *fault.Error
		want    string
		message string
	}{
		{"user-1", one, "user-1", "city: is required."},
		{"", one, "row_7", "city: is required."},
		{"a\nb", one, "row_7", "city: is required."},
		{strings.Repeat("x", 256), one, "row_7", "city: is required."},
		{"user-1", fault.Invalid(one.Fields[0], one.Fields[0]), "user-1", "The row is not valid."},
		{"user-1", fault.New(fault.Conflict, "In use."), "user-1", "In use."},
	} {
		e := customer.NewImportRowError(7, 9, c.id, c.refused)
		if e.CorrelationID() != c.want || e.Message != c.message || e.Row != 7 || e.Line != 9 || e.Code != c.refused.Code ||
			len(e.Fields) != len(c.refused.Fields) {
			t.Errorf("%+v", e)
		}
	}
}

func TestImportHeader_AnyRowHasCustomerOrFields(t *testing.T) {
	t.Parallel()
	// Whatever a row contains, it is a customer or a fault with the names of columns.
	known := []string{"row"}
	for _, c := range customer.ImportColumns {
		known = append(known, c.Name)
	}
	rapid.Check(t, func(t *rapid.T) {
		header := rapid.Permutation(fields(individualHeader+",businessLegalName,email,region")).Draw(t, "header")
		h, errors := customer.ParseImportHeader(header)
		if len(errors) > 0 {
			t.Fatal(errors)
		}
		row := rapid.SliceOfN(rapid.OneOf(rapid.String(), rapid.SampledFrom(append(fields(individualRow), fields(businessRow)...))),
			len(header)-1, len(header)+1).Draw(t, "row")

		created, err := h.Create(row, sandboxPlatform, customerID, now)

		refused, isFault := fault.As(err)
		if err == nil && (created.PlatformCustomerID == "" || created.Address == nil) || err != nil && (!isFault || len(refused.Fields) == 0) {
			t.Fatalf("%+v, %v", created, err)
		}
		if isFault {
			for _, f := range refused.Fields {
				if !slices.Contains(known, f.Field) {
					t.Errorf("%s is no column", f.Field)
				}
			}
			customer.NewImportRowError(1, 2, h.PlatformCustomerID(row), refused)
		}
	})
}
