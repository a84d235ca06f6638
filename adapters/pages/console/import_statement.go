package console

import (
	"cmp"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"causeway/adapters/pages/web"
	"causeway/app/reconciliation"
	"causeway/core/fault"
	"causeway/core/platform"
	"causeway/core/reconcile"
)

const (
	// maxStatement is the size of a statement that is uploaded, as that of the API. The command line accepts larger files.
	maxStatement = 64 << 20
	// importTimeout is that of a page with a statement, as that of the API.
	importTimeout = 2 * time.Minute
	// importPath ends the path of the only page that takes a file.
	importPath     = "import-statement"
	maxUploadParts = 20
)

// importStatement compares a statement that is uploaded with the ledger.
func (c *Console) importStatement(r *request) (action, error) {
	base := basePath(r.platform.ID)
	a := action{Title: "Import a statement", Section: "reconciliations", Back: base + "/reconciliations", File: "Statement",
		Does: "Each line of the statement is matched with the ledger, or becomes a break. A file that is incomplete or does not continue the " +
			"statement before is refused as a whole; one that was imported before changes nothing. It has at most 64 MiB: larger ones are " +
			"imported with `causeway ledger reconcile`.",
		Record: platform.OperatorAction{Platform: r.platform.ID, Kind: platform.PersonImportedStatement},
		Fields: []field{
			{Name: "format", Label: "Format", Kind: "select", Options: optionsOf(reconcile.Formats())[1:]},
			{Name: "account", Label: "Ledger account", Hint: "Such as `rails/RTP`. Empty with the currency: the file says the accounts, which " +
				"earlier statements or the next but one field connect with those of the ledger."},
			{Name: "currency", Label: "Currency", Hint: "Needed with an account."},
			{Name: "accounts", Label: "Accounts of the partner", Hint: "Pairs such as `DE02120300000000202051=rails/SEPA`, separated by " +
				"semicolons; for numbers that no earlier statement had."},
			{Name: "map", Label: "Columns of a CSV file", Hint: "Such as `date=Booked;amount=Amount;reference=Ref`."},
			{Name: "override", Label: "Why it is right", Hint: "Only for a file that was refused because its balances do not fit. It is stored."}}}
	a.Record.Name = strings.TrimSpace(cmp.Or(formText(r, "account"), "accounts of the file") + " " + formText(r, "currency"))
	a.do = func(r *request) (string, error) {
		author, err := c.author(r)
		if err != nil {
			return "", err
		}
		if r.file == nil {
			return "", fault.Invalid(fault.Field{Field: "file", Message: "must be a statement"})
		}
		done, err := c.Reconciliation.Import(r.Context(), reconciliation.ImportRequest{Platform: r.platform.ID, Path: formText(r, "account"),
			Currency: formText(r, "currency"), Accounts: formText(r, "accounts"), Format: formText(r, "format"), Layout: formText(r, "map"),
			Override: formText(r, "override"), By: author.Token.String(), File: r.file}, nil)
		if r.file.isTooLarge {
			err = fault.New(fault.PayloadTooLarge, "The file has more than 64 MiB. Import it with `causeway ledger reconcile`.")
		}
		if err != nil || len(done.Others) > 0 {
			return "", err
		}
		return base + "/reconciliations/" + pathOfID(done.ID), nil
	}
	return a, nil
}

// uploadedFile is the file of a form, which is read once while it arrives.
type uploadedFile struct {
	io.Reader
	isTooLarge bool
}

func (f *uploadedFile) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	var large *http.MaxBytesError
	f.isTooLarge = f.isTooLarge || errors.As(err, &large)
	return n, err
}

// takesFile reports whether a request has a form with a file, on the page that takes one.
func takesFile(r *http.Request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return r.Method == http.MethodPost && kind == "multipart/form-data" && path.Base(r.URL.Path) == importPath
}

// readUpload reads the fields of a form up to its file, which comes last and is read by what it is for.
func (r *request) readUpload() error {
	if err := web.ReceiveUpload(r.w, r.Request, maxStatement+maxForm, importTimeout, requestTimeout); err != nil {
		return err
	}
	parts, err := r.MultipartReader()
	if err != nil {
		return errUnreadable
	}
	r.PostForm = url.Values{}
	room := int64(maxForm)
	for range maxUploadParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errUnreadable
		}
		if part.FormName() == "file" {
			r.file = &uploadedFile{Reader: http.MaxBytesReader(r.w, part, maxStatement)}
			return nil
		}
		value, err := io.ReadAll(io.LimitReader(part, room+1))
		if room -= int64(len(part.FormName()) + len(value)); err != nil || room < 0 {
			return errUnreadable
		}
		r.PostForm.Add(part.FormName(), string(value))
	}
	return errUnreadable
}

// drain reads a file to its end that was refused: browsers show the response only when they have sent everything.
func (r *request) drain() {
	if r.file != nil {
		_, _ = io.Copy(io.Discard, r.file) // the reader may have left
	}
}
