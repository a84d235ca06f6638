package httpapi

import (
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"
)

func (s *sample) goCode() string {
	method := goName(s.op.OperationID)
	arguments := []string{"ctx"}
	for _, p := range s.given("path") {
		arguments = append(arguments, goValue(p.Schema, p.values[0]))
	}
	if slices.ContainsFunc(s.parameters, func(p sampleParameter) bool { return p.In != "path" }) {
		arguments = append(arguments, s.goParameters(method+"Params"))
	}
	var before string
	call := "client." + method
	switch {
	case s.upload != "":
		call += "WithBody"
		before = goOpen(s.fileName())
		arguments = append(arguments, strconv.Quote(s.upload), "file")
	case s.body != nil && isForm(s.op):
		call += "WithBody"
		before = s.goForm()
		arguments = append(arguments, "form.FormDataContentType()", "&body")
	case s.body != nil:
		call += "WithBody"
		arguments = append(arguments, `"application/json"`, "strings.NewReader("+goText(string(indentJSON(s.body)))+")")
	case s.op.RequestBody != nil:
		call += "WithBody"
		arguments = append(arguments, `"application/json"`, "nil")
	}
	call += "WithResponse(" + strings.Join(arguments, ", ") + ")"
	switch {
	case s.status == http.StatusNoContent:
		return before + "if _, err := " + call + "; err != nil {\n\treturn err\n}"
	case s.item == "":
		return before + "response, err := " + call + "\nif err != nil {\n\treturn err\n}\nfmt.Printf(\"%s\\n\", response.Body)"
	}
	return "for item, err := range causeway.All(func(cursor *string) ([]api." + goName(s.item) + ", *string, error) {\n" +
		"\tpage, err := " + call + "\n\tif err != nil {\n\t\treturn nil, nil, err\n\t}\n" +
		fmt.Sprintf("\treturn page.JSON%d.Data, page.JSON%d.NextCursor, nil\n}) {\n", s.status, s.status) +
		"\tif err != nil {\n\t\treturn err\n\t}\n\tjson.NewEncoder(os.Stdout).Encode(&item)\n}"
}

// goParameters returns the parameters beside those of the path.
func (s *sample) goParameters(kind string) string {
	var fields []string
	for _, p := range s.parameters {
		if p.In == "path" || p.values == nil {
			continue
		}
		values := make([]string, len(p.values))
		for i, value := range p.values {
			values[i] = goValue(p.scalar(), value)
		}
		named := kind + goName(p.Name)
		enum := len(p.scalar().Enum) > 0
		value := values[0]
		switch {
		case p.Schema.Type == huma.TypeArray:
			item := "string"
			if enum {
				item = "api." + named
			}
			value = "[]" + item + "{" + strings.Join(values, ", ") + "}"
		case enum:
			value = "api." + named + "(" + value + ")"
		case p.Schema.Type == huma.TypeInteger:
			value = "int64(" + value + ")"
		}
		if !p.Required {
			value = "causeway.Ptr(" + value + ")"
		}
		fields = append(fields, goName(p.Name)+": "+value)
	}
	if s.item != "" {
		fields = append(fields, "Cursor: cursor")
	}
	if fields == nil && !slices.ContainsFunc(s.parameters, func(p sampleParameter) bool { return p.Required && p.In != "path" }) {
		return "nil"
	}
	depth := 0
	if s.item != "" { // within a function
		depth = 1
	}
	return literals{indent: "\t"}.join("&api."+kind+"{", fields, "}", depth)
}

func goValue(schema *huma.Schema, value string) string {
	switch {
	case schema.Type == huma.TypeInteger || schema.Type == huma.TypeBoolean:
		return value
	case schema.Format == "date-time":
		if at, err := time.Parse(time.RFC3339Nano, value); err == nil {
			return fmt.Sprintf("time.Date(%d, %d, %d, %d, %d, %d, %d, time.UTC)", at.Year(), at.Month(), at.Day(), at.Hour(), at.Minute(),
				at.Second(), at.Nanosecond())
		}
	}
	return strconv.Quote(value)
}

func goOpen(name string) string {
	return "file, err := os.Open(" + strconv.Quote(name) + ")\nif err != nil {\n\treturn err\n}\ndefer file.Close()\n"
}

// goForm returns the statements that write a form.
func (s *sample) goForm() string {
	var fields strings.Builder
	var file string
	for _, m := range s.formFields(func(name string) any { return verbatim(name) }) {
		if name, isFile := m.value.(verbatim); isFile {
			file = string(name)
			continue
		}
		fmt.Fprintf(&fields, "form.WriteField(%q, %s)\n", m.name, m.value)
	}
	return goOpen(file) + "var body bytes.Buffer\nform := multipart.NewWriter(&body)\n" + fields.String() +
		"part, err := form.CreateFormFile(" + strconv.Quote(filePart) + ", " + strconv.Quote(file) + ")\nif err != nil {\n\treturn err\n}\n" +
		"if _, err := io.Copy(part, file); err != nil {\n\treturn err\n}\nform.Close()\n"
}

// goText returns a text as a literal of Go.
func goText(text string) string {
	if strings.Contains(text, "`") {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

var (
	goSeparator = regexp.MustCompile(`[-_. ]+.`)
	goPart      = regexp.MustCompile(`[\p{Lu}\d]+([\p{Ll}\d]+|$)`)
)

// goName returns a name as the generator of the client in Go writes it.
func goName(name string) string {
	name = goSeparator.ReplaceAllStringFunc(name, func(part string) string {
		last, _ := utf8.DecodeLastRuneInString(part)
		return string(unicode.ToUpper(last))
	})
	first, size := utf8.DecodeRuneInString(name)
	name = string(unicode.ToUpper(first)) + name[size:]
	return goPart.ReplaceAllStringFunc(name, func(part string) string {
		switch part {
		case "Id", "Ip", "Url", "Uri", "Api", "Json", "Uid", "Db":
			return strings.ToUpper(part)
		}
		return part
	})
}
