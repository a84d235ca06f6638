package httpapi

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"causeway/core/fault"
)

// Upload makes the body of an operation a file and not JSON. Forms are taken too: the
// file is their part "file", and their other parts count as query parameters.
type Upload struct {
	// Types are the content types of the file.
	Types []string
	// Description says what the file is.
	Description string
}

const (
	formType          = "multipart/form-data"
	filePart          = "file"
	maxFormFieldBytes = 64 << 10 // bytes of any other part of a form
	maxFormFields     = 32
)

// readUpload finds the file in the body that was read.
func (x *exchange) readUpload() error {
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == formType:
		return x.readForm(parameters["boundary"])
	case err != nil || !slices.Contains(x.route.upload.Types, kind):
		return fault.New(fault.UnsupportedMediaType, "The body must be a file. Send it with its Content-Type, one of %s, or as the part %q of a form.",
			strings.Join(x.route.upload.Types, ", "), filePart)
	}
	if x.body != nil {
		x.uploaded = x.body.Bytes()
	}
	return nil
}

func (x *exchange) readForm(boundary string) error {
	broken := fault.New(fault.InvalidRequestFormat, "The body is no form: its parts cannot be told apart.")
	if x.body == nil || boundary == "" {
		return broken
	}
	query := x.r.URL.Query()
	parts := multipart.NewReader(bytes.NewReader(x.body.Bytes()), boundary)
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == maxFormFields {
			return broken
		}
		most := int64(maxFormFieldBytes)
		if part.FormName() == filePart {
			most = x.route.maxBody
		}
		content, err := io.ReadAll(io.LimitReader(part, most+1))
		switch {
		case err != nil:
			return broken
		case int64(len(content)) > most:
			return tooLarge(most)
		case part.FormName() == filePart:
			x.uploaded = content
		case !isValidText(part.FormName()) || !isValidText(string(content)):
			return broken
		default:
			query.Add(part.FormName(), string(content))
		}
	}
	if x.uploaded == nil {
		return fault.Invalid(fault.Field{Field: filePart, Message: "must be a part of the form"})
	}
	// From here on a form is what the same file with query parameters is.
	x.r.URL = withQuery(*x.r.URL, query)
	return nil
}

func withQuery(u url.URL, query url.Values) *url.URL {
	u.RawQuery = query.Encode()
	return &u
}

// operationTimeout gives an operation that needs long the time for it, from the server that
// would otherwise cut its connection.
func (x *exchange) operationTimeout() time.Duration {
	if x.route.timeout == 0 {
		return x.api.config.RequestTimeout
	}
	connection := http.NewResponseController(x.w)
	// What cannot extend its deadlines has none.
	_ = connection.SetReadDeadline(x.started.Add(x.route.timeout))
	_ = connection.SetWriteDeadline(x.started.Add(x.route.timeout + 10*time.Second))
	return x.route.timeout
}

// requestBody describes the file, and the form with it and the query parameters.
func (u *Upload) requestBody(parameters []*huma.Param) *huma.RequestBody {
	file := func(description string) *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Format: "binary", Description: description}
	}
	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{filePart: file(u.Description)}, Required: []string{filePart}}
	for _, p := range parameters {
		if p.In == "query" && p.Schema != nil {
			schema := *p.Schema
			schema.Description = p.Description
			form.Properties[p.Name] = &schema
		}
	}
	body := &huma.RequestBody{Required: true, Description: u.Description, Content: map[string]*huma.MediaType{formType: {Schema: form}}}
	for _, kind := range u.Types {
		body.Content[kind] = &huma.MediaType{Schema: file("")}
	}
	return body
}
