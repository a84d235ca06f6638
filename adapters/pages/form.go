package pages

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"causeway/app/customers"
	"causeway/core/fault"
)

// readForm reads the form of a request: of one with a file also the file, into memory.
func (p *Pages) readForm(r *request) error {
	if !hasFile(r) {
		r.Body = http.MaxBytesReader(r.w, r.Body, maxForm)
		return readError(r.ParseForm())
	}
	if path.Dir(r.URL.Path) != home+"/documents" {
		return errUnreadable
	}
	control := http.NewResponseController(r.w)
	deadline := time.Now().Add(uploadTimeout)
	if err := errors.Join(control.SetReadDeadline(deadline), control.SetWriteDeadline(deadline.Add(requestTimeout))); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	r.Body = http.MaxBytesReader(r.w, r.Body, maxFile+maxForm)
	// Parts beyond this size are refused before ParseMultipartForm would write one to disk.
	return readError(r.ParseMultipartForm(maxFile + 2*maxForm))
}

// hasFile reports whether a form may have a file.
func hasFile(r *request) bool {
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	return kind == "multipart/form-data"
}

func readError(err error) error {
	var large *http.MaxBytesError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &large), errors.Is(err, multipart.ErrMessageTooLarge):
		return errTooLarge
	}
	return errUnreadable
}

// uploadedFile returns the file of a form, or nil if none was chosen.
func uploadedFile(r *request) (*customers.DocumentFile, error) {
	file, header, err := r.FormFile("file")
	if errors.Is(err, http.ErrMissingFile) || errors.Is(err, http.ErrNotMultipart) {
		return nil, nil
	} else if err != nil {
		return nil, errUnreadable
	}
	defer file.Close()
	body, err := io.ReadAll(file)
	if err != nil || len(body) == 0 {
		return nil, nil
	}
	return &customers.DocumentFile{Name: header.Filename, Size: int64(len(body)), ReaderAt: bytes.NewReader(body)}, nil
}

// field is a field of a form. Name is its path in the faults of use cases.
type field struct {
	Name string
	// Kind is the type of the input, or "select", "checkboxes" or "file".
	Kind         string
	Autocomplete string
	Options      []option
	// Optional fields say so.
	Optional bool
	// Value is the text, and Values are the checked boxes.
	Value  string
	Values []string
	// Hint and Problem are keys of texts, or empty.
	Hint, Problem string
}

// Label returns the key of the label.
func (f field) Label() string { return "label." + strings.TrimPrefix(f.Name, "personalInfo.") }

// ID returns the id of the input.
func (f field) ID() string { return "f-" + strings.ReplaceAll(f.Name, ".", "-") }

// InputID returns the id of the first input, which a link to the field leads to.
func (f field) InputID() string {
	if f.Kind == "checkboxes" {
		return f.ID() + "-" + f.Options[0].Value
	}
	return f.ID()
}

// InputType returns the type of the input of a text, date or number.
func (f field) InputType() string {
	if f.Kind == "number" {
		return "text" // with the keyboard for digits, and without the change of a value by scrolling
	}
	return f.Kind
}

// DescribedBy returns the ids of the texts about the field.
func (f field) DescribedBy() string {
	var ids []string
	if f.Hint != "" {
		ids = append(ids, f.ID()+"-hint")
	}
	if f.Problem != "" {
		ids = append(ids, f.ID()+"-problem")
	}
	return strings.Join(ids, " ")
}

// Has reports whether a box is checked.
func (f field) Has(value string) bool { return slices.Contains(f.Values, value) }

// option is a choice: Text is shown as it is, or is the text of Key.
type option struct{ Value, Text, Key string }

// options returns a choice for each value, with texts under a prefix.
func options(prefix string, values []string) []option {
	all := make([]option, len(values))
	for i, v := range values {
		all[i] = option{Value: v, Key: prefix + v}
	}
	return all
}

// group is a group of fields with a legend.
type group struct {
	Legend string // a key
	Fields []field
}

// formPage is a form.
type formPage struct {
	page
	Intro   string // a key, or empty
	Groups  []group
	Submit  string // the key of the button
	HasFile bool
	// General are keys of problems of no single field.
	General []string
	// Uploaded are the documents that were uploaded before, in a form for documents.
	Uploaded []uploaded
}

// Problems returns the fields with problems, in the order of the form.
func (f *formPage) Problems() []field {
	var bad []field
	for _, g := range f.Groups {
		for _, field := range g.Fields {
			if field.Problem != "" {
				bad = append(bad, field)
			}
		}
	}
	return bad
}

// fill sets the values of the form to those that were sent.
func (f *formPage) fill(values url.Values) {
	for g := range f.Groups {
		for i := range f.Groups[g].Fields {
			field := &f.Groups[g].Fields[i]
			field.Value, field.Values = values.Get(field.Name), values[field.Name]
		}
	}
}

// setProblems shows the invalid fields of a fault at their inputs.
func (f *formPage) setProblems(r *request, bad []fault.Field) {
	f.HasErrors = true
	for _, b := range bad {
		name, _, _ := strings.Cut(b.Field, "[")
		if !f.setProblem(r, name, b.Message) && !slices.Contains(f.General, "problem.other") {
			f.General = append(f.General, "problem.other")
		}
	}
}

func (f *formPage) setProblem(r *request, name, message string) bool {
	for g := range f.Groups {
		for i := range f.Groups[g].Fields {
			field := &f.Groups[g].Fields[i]
			if field.Name != name {
				continue
			}
			switch key := "problem." + name[strings.LastIndex(name, ".")+1:]; {
			case r.language.has(key):
				field.Problem = key
			case strings.HasPrefix(message, "is required"):
				field.Problem = "problem.required"
			default:
				field.Problem = "problem.invalid"
			}
			return true
		}
	}
	return false
}

// finish goes to the next page if a form was accepted, or shows the form again with what is wrong.
func (p *Pages) finish(r *request, form *formPage, err error, next string) error {
	f := faultOf(err)
	switch {
	case err == nil:
		return redirect(r, next)
	case f.Code == fault.InvalidInput:
		form.fill(r.PostForm)
		form.setProblems(r, f.Fields)
		return p.render(r, http.StatusUnprocessableEntity, "form.html", form)
	}
	return err
}

// text returns a value that was sent, without spaces around it.
func (r *request) text(name string) string {
	return strings.Join(strings.Fields(r.PostFormValue(name)), " ")
}
