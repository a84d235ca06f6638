package pages

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"causeway/adapters/pages/web"
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
	if err := web.ReceiveUpload(r.w, r.Request, maxRead, uploadTimeout, requestTimeout); err != nil {
		return err
	}
	return readError(r.readParts())
}

// readParts reads the form and its file. A file that is too large is read to its end, and not kept:
// browsers show the response only when they have sent everything.
func (r *request) readParts() error {
	parts, err := r.MultipartReader()
	if err != nil {
		return err
	}
	r.PostForm = url.Values{}
	room := int64(maxForm)
	for range maxParts {
		part, err := parts.NextPart()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if part.FileName() == "" {
			value, err := io.ReadAll(io.LimitReader(part, room+1))
			if room -= int64(len(part.FormName()) + len(value)); err != nil || room < 0 {
				return cmp.Or(err, error(errTooLarge))
			}
			r.PostForm.Add(part.FormName(), string(value))
			continue
		}
		body, err := io.ReadAll(io.LimitReader(part, maxFile+1))
		if err != nil {
			return err
		}
		switch {
		case part.FormName() != "file" || r.file != nil:
			return errUnreadable
		case len(body) > maxFile:
			r.isFileTooLarge = true
		case len(body) > 0:
			r.file = &customers.DocumentFile{Name: part.FileName(), Size: int64(len(body)), ReaderAt: bytes.NewReader(body)}
		}
	}
	return errTooLarge
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
	case errors.As(err, &large), errors.Is(err, errTooLarge):
		return errTooLarge
	}
	return errUnreadable
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
	// Hint and Problem are keys of texts, or empty. Limit is a number in the text of Problem.
	Hint, Problem, Limit string
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

// MaxFile is the size of the largest file, in bytes.
func (f *formPage) MaxFile() int { return maxFile }

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
	for _, b := range bad {
		name, _, _ := strings.Cut(b.Field, "[")
		if !f.setProblem(r, name, b) && !slices.Contains(f.General, "problem.other") {
			f.General = append(f.General, "problem.other")
		}
	}
}

// setProblem shows what is invalid at an input, and returns false if there is none.
func (f *formPage) setProblem(r *request, name string, bad fault.Field) bool {
	field := f.field(name)
	if field == nil {
		return false
	}
	maxLength, isLong := bad.Constraint["maxLength"]
	switch key := "problem." + name[strings.LastIndex(name, ".")+1:]; {
	case isLong:
		field.Problem, field.Limit = "problem.long", fmt.Sprint(maxLength)
	case r.language.has(key):
		field.Problem = key
	case strings.HasPrefix(bad.Message, "is required"):
		field.Problem = "problem.required"
	default:
		field.Problem = "problem.invalid"
	}
	return true
}

// field returns the field with a name, or nil.
func (f *formPage) field(name string) *field {
	for _, g := range f.Groups {
		for i := range g.Fields {
			if g.Fields[i].Name == name {
				return &g.Fields[i]
			}
		}
	}
	return nil
}

// finish goes to the next page if a form was accepted, or shows the form again with what is wrong.
func (p *Pages) finish(r *request, form *formPage, err error, next string) error {
	f := faultOf(err)
	switch {
	case err == nil:
		return redirect(r, next)
	case f.Code == fault.InvalidInput:
		form.setProblems(r, f.Fields)
		return p.showAgain(r, form, http.StatusUnprocessableEntity)
	}
	return err
}

// showAgain shows a form with what was sent, and what is wrong.
func (p *Pages) showAgain(r *request, form *formPage, status int) error {
	form.fill(r.PostForm)
	form.HasErrors = true
	return p.render(r, status, "form.html", form)
}

// text returns a value that was sent, without spaces around it.
func (r *request) text(name string) string {
	return strings.Join(strings.Fields(r.PostFormValue(name)), " ")
}

// Browsers without a field for dates send them as they are written: with the year first, or last.
var (
	yearFirst = regexp.MustCompile(`^(\d{4})[-/. ](\d{1,2})[-/. ](\d{1,2})$`)
	yearLast  = regexp.MustCompile(`^(\d{1,2})[-/. ](\d{1,2})[-/. ](\d{4})$`)
)

// date returns a date that was sent, as YYYY-MM-DD. One of which nobody can say which number is the
// month is returned as it is, and is not valid.
func (r *request) date(name string) string {
	sent := r.text(name)
	year, month, day := "", 0, 0
	if found := yearFirst.FindStringSubmatch(sent); found != nil {
		year, month, day = found[1], number(found[2]), number(found[3])
	} else if found := yearLast.FindStringSubmatch(sent); found != nil {
		year, month, day = found[3], number(found[1]), number(found[2])
		if month > 12 {
			month, day = day, month
		} else if day <= 12 && day != month {
			return sent
		}
	}
	if year == "" {
		return sent
	}
	return fmt.Sprintf("%s-%02d-%02d", year, month, day)
}

// number returns the value of one or two digits.
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
