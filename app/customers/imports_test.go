package customers_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"causeway/adapters/postgres"
	"causeway/app/customers"
	"causeway/app/internal/apptest"
	"causeway/core/customer"
	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/platform"
	"causeway/ports"
)

const importHeader = "umaAddress,platformCustomerId,customerType,fullName,birthDate,addressLine1,city,state,postalCode,country\n"

// importRow is a valid row of a customer with the name.
func importRow(name string) string {
	return fmt.Sprintf("$%s@uma.test,%s,INDIVIDUAL,Ana Ng,1990-02-28,1 Main St,Austin,TX,78701,US\n", name, name)
}

// importRows is a file with rows that are named user-1 and so on.
func importRows(n int) string {
	var file strings.Builder
	file.WriteString(importHeader)
	for i := range n {
		file.WriteString(importRow(fmt.Sprint("user-", i+1)))
	}
	return file.String()
}

type importEnv struct {
	*env
	imports *customers.Imports
	admin   platform.Principal
}

func newImportEnv(t *testing.T) *importEnv {
	t.Helper()
	e := &importEnv{env: newEnv(t)}
	e.imports = customers.NewImports(e.customers)
	created := e.NewPlatform(func(p *platform.Platform) { p.UMADomain = "uma.test" })
	e.admin = e.NewPrincipal(created)
	return e
}

func (e *importEnv) upload(t *testing.T, file string) customer.Import {
	t.Helper()
	uploaded, err := e.imports.Upload(t.Context(), e.admin.Platform, nil, strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	return uploaded
}

// run uploads a file, imports it and returns the result.
func (e *importEnv) run(t *testing.T, file string) customer.ImportWithErrors {
	t.Helper()
	uploaded := e.upload(t, file)
	if uploaded.Status != customer.ImportPending {
		t.Errorf("status %s after the upload", uploaded.Status)
	}
	if err := e.imports.ImportDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	result, err := e.imports.Get(t.Context(), e.admin.Platform, uploaded.ID)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func (e *importEnv) count(t *testing.T, query string) string {
	t.Helper()
	return e.QueryStrings("SELECT (" + query + ")::text")[0]
}

func TestImports_CreatesCustomersAsRequestsDo(t *testing.T) {
	t.Parallel()
	// Each row becomes a customer with its accounts, and the end is an event. Nothing of the file
	// is left.
	env := newImportEnv(t)

	result := env.run(t, importRows(600))

	if result.Status != customer.ImportCompleted || result.Total != 600 || result.Successful != 600 || result.Failed != 0 ||
		len(result.Errors) > 0 || !result.CompletedAt.Equal(apptest.Noon) {
		t.Errorf("%+v", result)
	}
	page, err := env.customers.List(t.Context(), env.admin.Platform, ports.CustomerFilter{Paging: ports.Paging{Limit: 10},
		PlatformCustomerID: "user-600"})
	if err != nil || len(page.Items) != 1 {
		t.Fatalf("%+v, %v", page, err)
	}
	imported := page.Items[0]
	requested, err := env.customers.Create(t.Context(), env.admin.Platform, nil, customer.Request{PlatformCustomerID: "requested",
		Type:     "INDIVIDUAL",
		FullName: imported.FullName, BirthDate: imported.BirthDate, Address: imported.Address})
	if err != nil || imported.Status != requested.Status || imported.FullName != "Ana Ng" || imported.UMAAddress != "$user-600@uma.test" {
		t.Errorf("imported %+v, requested %+v, %v", imported, requested, err)
	}
	accounts := func(id ident.Customer) []string {
		return env.QueryStrings(
			`SELECT currency || ' ' || account_type || ' ' || status || (instructions <> '') FROM internal_accounts WHERE customer_id = $1 ORDER BY 1`, id.UUID())
	}
	if got, want := accounts(imported.ID), accounts(requested.ID); !slices.Equal(got, want) || len(got) == 0 {
		t.Errorf("accounts %q, want %q", got, want)
	}
	if left := env.count(t, "SELECT count(*) FROM customer_import_chunks"); left != "0" {
		t.Errorf("%s chunks are left", left)
	}
	env.Events.Want(result.ID.UUID(), event.BulkUploadCompleted)
	if got := env.Events.About(result.ID.UUID())[0]; got.Platform != env.admin.Platform || !reflect.DeepEqual(got.Resource, result) {
		t.Errorf("event %+v, want %+v", got, result)
	}
}

// summary describes an import and its errors in a line each.
func summary(i customer.ImportWithErrors) []string {
	lines := []string{fmt.Sprintf("%s %d of %d, %d failed", i.Status, i.Processed(), i.Total, i.Failed)}
	for _, e := range i.Errors {
		line := fmt.Sprintf("%s row %d line %d %s", e.CorrelationID(), e.Row, e.Line, e.Code)
		for _, f := range e.Fields {
			line += " " + f.Field
		}
		lines = append(lines, strings.TrimSpace(line+" "+e.Reason+" "+e.Column))
	}
	return lines
}

func TestImports_RefusesRowsAndKeepsOthers(t *testing.T) {
	t.Parallel()
	// A row that is invalid, or whose ids are in use by a customer or an earlier row, is reported with
	// its number, its line and its columns. The others are imported.
	env := newImportEnv(t)
	if _, err := env.customers.Create(t.Context(), env.admin.Platform, nil, customer.Request{PlatformCustomerID: "known", Type: "INDIVIDUAL",
		UMAAddress: "$known@uma.test"}); err != nil {
		t.Fatal(err)
	}
	row := func(name, old, new string) string { return strings.Replace(importRow(name), old, new, 1) }
	file := strings.ReplaceAll("\ufeff"+importHeader+
		row("ana", "1 Main St", "\"1 Main St\"")+
		row("ben", "Ana Ng", "Ana <Ng>")+ // row 2
		row("cid", "1990-02-28", "28.2.1990")+
		",,,,,,,,,\n"+ // spreadsheets add empty rows
		"\n"+
		row("", "$@uma.test", "no address")+ // row 4, on line 7
		row("known", "$known", "$other")+
		row("other-id", "$other-id", "$known")+
		row("dan", "Austin", "\"Austin, the\"\"city\"\"\"")+ // row 7
		row("dan", "$dan", "$dan2")+
		row("dan3", "$dan3", "$dan")+
		row("eva", ",US", "")+
		row("'+eva", "$'+eva", "$eva"), "\n", "\r\n")

	result := env.run(t, file)

	want := []string{
		"COMPLETED 11 of 11, 8 failed",
		"ben row 2 line 3 INVALID_INPUT fullName",
		"cid row 3 line 4 INVALID_INPUT birthDate",
		"row_4 row 4 line 7 INVALID_INPUT platformCustomerId umaAddress",
		"known row 5 line 8 CONFLICT platformCustomerId in use",
		"other-id row 6 line 9 UMA_ADDRESS_EXISTS",
		"dan row 8 line 11 CONFLICT platformCustomerId in use",
		"dan3 row 9 line 12 UMA_ADDRESS_EXISTS",
		"row_10 row 10 line 13 INVALID_INPUT row",
	}
	if got := summary(result); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	created := env.QueryStrings(`SELECT platform_customer_id FROM customers WHERE platform_id = $1 ORDER BY 1`, env.admin.Platform.UUID())
	if want := []string{"+eva", "ana", "dan", "known"}; !slices.Equal(created, want) {
		t.Errorf("customers %q, want %q", created, want)
	}
	// The same file again creates nobody.
	if again := env.run(t, file); again.Successful != 0 || again.Failed != 11 {
		t.Errorf("again: %q", summary(again))
	}
}

func TestImports_RefusesFiles(t *testing.T) {
	t.Parallel()
	// A file that is not as described fails as a whole, with the reason and the column, and no row of
	// it is imported.
	env := newImportEnv(t)
	utf16 := []byte{0xff, 0xfe}
	for _, c := range importHeader {
		utf16 = append(utf16, byte(c), 0)
	}
	long := importRows(300) + importRow("\"quoted")
	for name, c := range map[string]struct{ file, want string }{
		"empty":            {"", "empty_file"},
		"blank lines":      {"\n\n\n", "empty_file"},
		"no rows":          {importHeader, "no_rows"},
		"empty rows":       {importHeader + ",,,\n,,,\n", "no_rows"},
		"missing column":   {strings.Replace(importHeader, "city,", "", 1) + importRow("ana"), "missing_required_column city"},
		"repeated column":  {strings.Replace(importHeader, "city,", "city,city,", 1) + importRow("ana"), "duplicate_column city"},
		"semicolons":       {strings.ReplaceAll(importHeader, ",", ";"), "malformed_csv"},
		"UTF-16":           {string(utf16), "invalid_encoding"},
		"UTF-16, no mark":  {string(utf16[2:]), "invalid_encoding"},
		"Latin-1":          {importRows(300) + strings.Replace(importRow("ana"), "Ana", "Jos\xe9", 1), "invalid_encoding"},
		"Latin-1 header":   {strings.Replace(importHeader, "city", "cit\xe9", 1), "invalid_encoding"},
		"spreadsheet":      {"PK\x03\x04aaaaaaa", "invalid_encoding"},
		"quotation mark":   {long, "malformed_csv"},
		"after a quote":    {importHeader + strings.Replace(importRow("ana"), "Austin", "\"Aus\"tin", 1), "malformed_csv"},
		"quote not closed": {importHeader + strings.Replace(importRow("ana"), "Austin", "\"Austin", 1) + importRows(10_000), "row_too_long"},
		"no end":           {importHeader + strings.Replace(importRow("ana"), "Austin", "\"Austin", 1), "malformed_csv"},
		"long header":      {strings.Repeat("x", 100_000), "row_too_long"},
	} {
		result := env.run(t, c.file)
		if len(result.Errors) == 0 {
			t.Errorf("%s: %+v", name, result)
			continue
		}
		e := result.Errors[0]
		if got := strings.TrimSpace(e.Reason + " " + e.Column); got != c.want || result.Status != customer.ImportFailed || result.Total != 0 ||
			e.CorrelationID() != "file" || result.CompletedAt.IsZero() {
			t.Errorf("%s: %q, want %s: %+v", name, got, c.want, result)
		}
		env.Events.Want(result.ID.UUID(), event.BulkUploadFailed)
	}
	if left := env.count(t, "SELECT (SELECT count(*) FROM customer_import_chunks) + (SELECT count(*) FROM customers WHERE "+
		"platform_customer_id <> 'ana')"); left != "0" {
		t.Errorf("%s chunks or customers are stored", left)
	}
}

func TestImports_CarelessFiles(t *testing.T) {
	t.Parallel()
	// A file as spreadsheets and people write it is imported, or its error says what to change.
	env := newImportEnv(t)
	utf16 := func(file string) string {
		var text strings.Builder
		for _, c := range file {
			text.WriteString(string([]byte{0, byte(c)}))
		}
		return "\xfe\xff" + text.String()
	}
	header := func(old, new string) string { return strings.Replace(importHeader, old, new, 1) }
	row := func(old, new string) string { return strings.Replace(importRow("someone"), old, new, 1) }
	const imported = "imported"
	for name, c := range map[string]struct{ file, want string }{
		"UTF-16":                {utf16(importHeader + importRow("someone")), "probably UTF-16. Save it as CSV in UTF-8."},
		"byte order mark":       {"\ufeff" + importHeader + importRow("someone"), imported},
		"byte order mark only":  {"\ufeff", "The file is empty."},
		"empty":                 {"", "The file is empty."},
		"header only":           {importHeader, "no rows below the names"},
		"semicolons":            {strings.ReplaceAll(importHeader+importRow("someone"), ",", ";"), "Separate the columns by commas."},
		"semicolons and quotes": {`"umaAddress";"platformCustomerId"` + "\n", "other characters than a comma, such as a semicolon."},
		"semicolons in rows": {importHeader + strings.ReplaceAll(importRow("someone"), ",", ";"),
			"has 1 values, but the header has 10 columns"},
		"tabs": {strings.ReplaceAll(importHeader+importRow("someone"), ",", "\t"), "Separate the columns by commas."},
		"CRLF": {strings.ReplaceAll(importHeader+importRow("someone"), "\n", "\r\n"), imported},
		"CR": {strings.ReplaceAll(importHeader+importRow("someone"), "\n", "\r"),
			"Save the file with the line ends LF or CRLF."},
		"no line end": {importHeader + strings.TrimSpace(importRow("someone")), imported},
		"quotes everywhere": {strings.ReplaceAll("\""+strings.ReplaceAll(strings.TrimSpace(importHeader+importRow("someone")), "\n",
			"\"\n\""), ",", "\",\"") + "\"\n", imported},
		"quote in a value":       {importHeader + row("Austin", `Aus"tin`), "a quotation mark is inside a value"},
		"quote not closed":       {importHeader + row("Austin", `"Austin`), "that begins on line 2 does not end"},
		"blank lines":            {"\n" + importHeader + "\n  \n , ,,,,,,,,\n" + importRow("someone") + "\n\n", imported},
		"spaces in the header":   {header("city", " City\u00a0") + importRow("someone"), imported},
		"capitals in the header": {strings.ToUpper(importHeader) + importRow("someone"), imported},
		"repeated column":        {header("city", "city,CITY ") + importRow("someone"), "The column city is in the header twice."},
		"Latin-1":                {importHeader + row("Ana", "Jos\xe9"), "Line 2 is not UTF-8."},
		"huge value":             {importHeader + row("Austin", strings.Repeat("x", 10<<20)), "After line 1 comes a row of more than 64 KiB."},
		"huge quoted value": {importHeader + row("Austin", `"`+strings.Repeat("x\n", 5<<20)+`"`),
			"After line 1 comes a row of more than 64 KiB."},
		"formula":           {importHeader + row("Ana Ng", "=1+1"), "fullName: must be a name"},
		"protected formula": {importHeader + row("1 Main St", "'=1+1"), imported},
		"null character":    {importHeader + row("Austin", "Aus\x00tin"), "city: must not contain control characters"},
		"no header":         {importRow("someone"), "The column umaAddress is missing in the header."},
	} {
		id := strings.ToLower(strings.ReplaceAll(name, " ", "-"))

		result := env.run(t, strings.ReplaceAll(c.file, "someone", id))

		got := fmt.Sprintf("%s with %d of %d rows", result.Status, result.Successful, result.Total)
		if len(result.Errors) > 0 {
			got = result.Errors[0].Message
		} else if result.Status == customer.ImportCompleted && result.Successful == 1 && result.Total == 1 {
			got = imported
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func TestImports_KeepsFirstErrors(t *testing.T) {
	t.Parallel()
	// The first thousand refused rows are kept; further ones are counted.
	env := newImportEnv(t)
	var file strings.Builder
	file.WriteString(importHeader)
	for range 1100 {
		file.WriteString(strings.Replace(importRow("ana"), "Ana Ng", "7", 1))
	}

	result := env.run(t, file.String()+importRow("ben"))

	if result.Status != customer.ImportCompleted || result.Failed != 1100 || result.Successful != 1 ||
		len(result.Errors) != customer.MaxImportErrors || result.Errors[999].Row != 1000 {
		t.Errorf("%d failed, %d successful, %d errors kept", result.Failed, result.Successful, len(result.Errors))
	}
}

// failingReader returns an error after a text.
func failingReader(text string, err error) io.Reader {
	return io.MultiReader(strings.NewReader(text), iotest.ErrReader(err))
}

func TestImports_FailedUploadLeavesNothing(t *testing.T) {
	t.Parallel()
	// An upload that does not arrive whole, also after the last row or after an error in the file,
	// leaves no import, no rows and no job.
	env := newImportEnv(t)
	broken := fault.New(fault.InvalidRequestFormat, "Incomplete request body.")
	for name, text := range map[string]string{"before the header": "uma", "between rows": importRows(600), "in a row": importRows(600) +
		"$ana@", "after an error": strings.Replace(importRows(600), "city,", "", 1)} {
		_, err := env.imports.Upload(t.Context(), env.admin.Platform, nil, failingReader(text, broken))
		apptest.WantFault(t, name, err, fault.InvalidRequestFormat)
		if left := env.count(t, "SELECT (SELECT count(*) FROM customer_import_chunks) + (SELECT count(*) FROM customer_imports) + (SELECT "+
			"count(*) FROM jobs)"); left != "0" {
			t.Errorf("%s: %s rows are left", name, left)
		}
	}
}

func TestImports_RepeatedUploadIsReplayed(t *testing.T) {
	t.Parallel()
	// A request with the key of an earlier one gets its response, and its own rows are deleted.
	env := newImportEnv(t)
	request := apptest.IdempotentRequest(env.admin, "key", func(result any) string { return result.(customer.Import).ID.String() })
	first, err := env.imports.Upload(t.Context(), env.admin.Platform, request, strings.NewReader(importRows(300)))
	if err != nil {
		t.Fatal(err)
	}

	_, err = env.imports.Upload(t.Context(), env.admin.Platform, request, strings.NewReader(importRows(300)))

	var replay *ports.Replay
	if !errors.As(err, &replay) || string(replay.Body) != first.ID.String() {
		t.Errorf("again: %v", err)
	}
	if got := env.QueryStrings("SELECT id || ' ' || (SELECT count(*) FROM customer_import_chunks) || ' ' || (SELECT count(*) FROM jobs) " +
		"FROM customer_imports"); !slices.Equal(got, []string{first.ID.UUID().String() + " 2 1"}) {
		t.Errorf("stored %q", got)
	}
}

func TestImports_LimitsUnfinishedImports(t *testing.T) {
	t.Parallel()
	// A platform has a few unfinished imports at most. An upload whose process has stopped does not
	// count for long, and is not shown. Other platforms are not concerned.
	env := newImportEnv(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	_, err := env.imports.Upload(ctx, env.admin.Platform, nil, readerFunc(func([]byte) (int, error) {
		cancel(errors.New("the process stops"))
		return 0, ctx.Err()
	}))
	if err == nil {
		t.Fatal("uploaded")
	}
	stopped := customer.Import{ID: ident.NewCustomerImport(env.IDs.New, apptest.Noon), Platform: env.admin.Platform,
		Status: customer.ImportUploading, CreatedAt: apptest.Noon, UpdatedAt: apptest.Noon}
	env.Do(func(ctx context.Context, tx *postgres.Unit) error {
		return tx.CreateCustomerImport(ctx, stopped, ports.UnfinishedImports{Max: 1})
	})
	for range customers.MaxUnfinishedImports - 1 {
		env.upload(t, importRows(1))
	}

	_, err = env.imports.Upload(t.Context(), env.admin.Platform, nil, strings.NewReader(importRows(1)))
	apptest.WantFault(t, "one more", err, fault.RateLimited)
	if _, err := env.imports.Upload(t.Context(), env.Platform.ID, nil, strings.NewReader(importRows(1))); err != nil {
		t.Errorf("another platform: %v", err)
	}
	env.Clock.Advance(customers.UploadTimeout + time.Second)
	env.upload(t, importRows(1))
	if err := env.imports.ImportDue(t.Context()); err != nil {
		t.Fatal(err)
	}
	env.upload(t, importRows(1))
	_, hidden := env.imports.Get(t.Context(), env.admin.Platform, stopped.ID)
	apptest.WantFault(t, "an upload", hidden, fault.BulkUploadJobNotFound)
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// repeatingStore runs every unit of work twice, as after a serialization failure: the first run is
// rolled back.
type repeatingStore struct{ customers.Store }

func (s repeatingStore) DoUnit(ctx context.Context, fn func(ctx context.Context, unit any) error) error {
	rolledBack := errors.New("serialization failure")
	if err := s.Store.DoUnit(ctx, func(ctx context.Context, tx any) error {
		return errors.Join(fn(ctx, tx),
			rolledBack)
	}); !errors.Is(err,
		rolledBack) {
		return err
	}
	return s.Store.DoUnit(ctx, fn)
}

func TestImports_InterruptedChunkIsRepeated(t *testing.T) {
	t.Parallel()
	// A chunk that is rolled back is imported again, and the result is the same. Two processes that
	// run the import at once, one of them without the lease, import each row once.
	env := newImportEnv(t)
	env.customers.Store = repeatingStore{env.Store}
	uploaded := env.upload(t, importRows(600))
	var running sync.WaitGroup
	for range 2 {
		held, err := env.Store.TakeJobs(t.Context(), ports.StepImportCustomers, env.Clock.Now().Add(time.Minute), time.Nanosecond, 1)
		if err != nil || len(held) != 1 {
			t.Fatalf("%+v, %v", held, err)
		}
		running.Go(func() {
			if err := customers.RunImportJob(t.Context(), env.imports, held); err != nil && !errors.Is(err, ports.ErrLeaseLost) {
				t.Error(err)
			}
		})
	}
	running.Wait()
	if err := env.imports.ImportDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	result, err := env.imports.Get(t.Context(), env.admin.Platform, uploaded.ID)
	if err != nil || result.Status != customer.ImportCompleted || result.Successful != 600 || result.Failed != 0 {
		t.Errorf("%q, %v", summary(result), err)
	}
	if n := env.count(t, "SELECT count(*) FROM customers WHERE platform_id = '"+env.admin.Platform.UUID().String()+"'"); n != "600" {
		t.Errorf("%s customers", n)
	}
}

func TestImports_OfOtherPlatformIsNotFound(t *testing.T) {
	t.Parallel()
	// An import of another platform is refused as an unknown one is.
	env := newImportEnv(t)
	uploaded := env.upload(t, importRows(1))
	_, foreign := env.imports.Get(t.Context(), env.Platform.ID, uploaded.ID)
	apptest.WantFault(t, "of another platform", foreign, fault.BulkUploadJobNotFound)
	unknown := ident.NewCustomerImport(env.IDs.New, apptest.Noon)
	_, err := env.imports.Get(t.Context(), env.admin.Platform, unknown)
	if err == nil || strings.ReplaceAll(err.Error(), unknown.String(), "") != strings.ReplaceAll(foreign.Error(), uploaded.ID.String(), "") {
		t.Errorf("%v and %v", foreign, err)
	}
}

func TestImports_PlatformChangesBetweenChunks(t *testing.T) {
	t.Parallel()
	// Rows that were prepared before the platform changed are imported as it is now: customers of the
	// next chunk have an account in the new currency too.
	env := newImportEnv(t)
	uploaded := env.upload(t, importRows(300))
	held, err := env.Store.TakeJobs(t.Context(), ports.StepImportCustomers, env.Clock.Now().Add(time.Minute), time.Minute, 1)
	if err != nil || len(held) != 1 {
		t.Fatalf("%+v, %v", held, err)
	}
	if err := customers.RunImportJob(t.Context(), env.imports, held); err != nil {
		t.Fatal(err)
	}
	accounts := func(name string) string {
		return env.count(t, "SELECT string_agg(a.currency, ' ' ORDER BY a.currency) FROM internal_accounts a JOIN customers c ON c.platform_id "+
			"= a.platform_id AND c.id = a.customer_id WHERE c.platform_customer_id = '"+name+"'")
	}

	env.addCurrency(t, env.admin, "MXN")
	if err := env.imports.ImportDue(t.Context()); err != nil {
		t.Fatal(err)
	}

	result, err := env.imports.Get(t.Context(), env.admin.Platform, uploaded.ID)
	if err != nil || result.Status != customer.ImportCompleted || result.Successful != 300 {
		t.Errorf("%q, %v", summary(result), err)
	}
	if before, after := accounts("user-1"), accounts("user-300"); strings.Contains(before, "MXN") || !strings.Contains(after, "MXN") {
		t.Errorf("accounts in %s before the change, in %s after it", before, after)
	}
}
