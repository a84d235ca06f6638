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

// Upload makes the body of an operation a file instead of JSON. Multipart forms are also
// accepted: the file is the part "file", and the other parts are query parameters.
type Upload struct {
	// Types are the accepted content types.
	Types []string
	// Stream passes the file to the handler while it arrives, so that it is never whole in memory.
	// The handler reads Call.File to its end, which checks that the request is complete, before it
	// saves a response under the idempotency key.
	Stream bool
	// StreamBody is Stream for a file that is the body. A form is read whole, so that its parts may be
	// in any order.
	StreamBody bool
	// Form makes the body a multipart form, with the parameters of the operation as parts before or
	// after the file. The operation validates them together with Call.FormFile, which is nil if there
	// is no file. Types is empty, and Operation.MaxBody is the maximum size of the file.
	Form bool
	// Description describes the file.
	Description string
}

const (
	formType          = "multipart/form-data"
	filePart          = "file"
	maxFormFieldBytes = 64 << 10 // of a part other than the file
	maxFormFields     = 32
)

// readUpload extracts the file from the body.
func (x *exchange) readUpload() error {
	boundary, isForm, err := x.uploadType()
	switch {
	case err != nil:
		return err
	case isForm:
		return x.readForm(boundary)
	case x.body != nil:
		x.uploaded = x.body.Bytes()
	}
	return nil
}

// uploadType returns whether the body is a form, with its boundary, or the file itself.
func (x *exchange) uploadType() (boundary string, isForm bool, err error) {
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	switch {
	case err == nil && kind == formType:
		return parameters["boundary"], true, nil
	case err != nil || !slices.Contains(x.route.upload.Types, kind):
		return "", false, fault.New(fault.UnsupportedMediaType, "The body must be a file. Send it with its Content-Type, one of %s, or as the "+
			"part %q of a form.",
			strings.Join(x.route.upload.Types, ", "), filePart)
	}
	return "", false, nil
}

func (x *exchange) readForm(boundary string) error {
	invalidForm := errInvalidForm()
	if x.body == nil || boundary == "" {
		return invalidForm
	}
	query := x.r.URL.Query()
	parts := multipart.NewReader(bytes.NewReader(x.body.Bytes()), boundary)
	for n := 0; ; n++ {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || n == maxFormFields {
			return invalidForm
		}
		limit := int64(maxFormFieldBytes)
		if part.FormName() == filePart {
			limit = x.route.maxBody
		}
		content, err := io.ReadAll(io.LimitReader(part, limit+1))
		switch {
		case err != nil:
			return invalidForm
		case int64(len(content)) > limit:
			return tooLarge(limit)
		case part.FormName() == filePart:
			x.uploaded = content
		case !isValidText(part.FormName()) || !isValidText(string(content)):
			return invalidForm
		default:
			query.Add(part.FormName(), string(content))
		}
	}
	if x.uploaded == nil {
		return fault.Invalid(fault.Field{Field: filePart, Message: "must be a part of the form"})
	}
	// Now the request is the same as one with the file as body and query parameters.
	x.r.URL = withQuery(*x.r.URL, query)
	return nil
}

func withQuery(u url.URL, query url.Values) *url.URL {
	u.RawQuery = query.Encode()
	return &u
}

// operationTimeout returns the timeout of the operation. For an operation with its own
// timeout it extends the deadlines of the connection.
func (x *exchange) operationTimeout() time.Duration {
	if x.route.timeout == 0 {
		return x.api.config.RequestTimeout
	}
	connection := http.NewResponseController(x.w)
	// The writers of tests have no deadlines.
	_ = connection.SetReadDeadline(x.started.Add(x.route.timeout))
	_ = connection.SetWriteDeadline(x.started.Add(x.route.timeout + 10*time.Second))
	return x.route.timeout
}

// requestBody describes the body: the file, or a form with the file and the query
// parameters.
func (u *Upload) requestBody(parameters []*huma.Param) *huma.RequestBody {
	form := &huma.Schema{Type: huma.TypeObject, Properties: map[string]*huma.Schema{filePart: binaryFile(u.Description)},
		Required: []string{filePart}}
	for _, p := range parameters {
		if p.In == "query" && p.Schema != nil {
			schema := *p.Schema
			schema.Description = p.Description
			form.Properties[p.Name] = &schema
			if u.Form && p.Required {
				form.Required = append(form.Required, p.Name)
			}
		}
	}
	body := &huma.RequestBody{Required: true, Description: u.Description, Content: map[string]*huma.MediaType{formType: {Schema: form}}}
	for _, kind := range u.Types {
		body.Content[kind] = &huma.MediaType{Schema: binaryFile("")}
	}
	return body
}
