package httpapi

import (
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2/validation"
)

// rule is a validation rule: its JSON Schema keyword, and the message for the caller.
type rule struct {
	keyword string
	text    string // with at most one %s, for the value of the keyword
}

func (r rule) message(value string) string { return strings.Replace(r.text, "%s", value, 1) }

// rules holds all rules of the validator by the name of the finding.
var rules = map[string]rule{
	"required":         {"", "is required"},
	"dependent":        {"", "is required together with %s"},
	"unexpected":       {"", "is not a known field; remove it"},
	"date-time":        {"format", "must be an RFC 3339 timestamp, such as 2025-10-13T09:30:00Z"},
	"date-time-http":   {"format", "must be an HTTP date, such as Mon, 13 Oct 2025 09:30:00 GMT"},
	"date":             {"format", "must be a date, such as 2025-10-13"},
	"time":             {"format", "must be a time, such as 09:30:00"},
	"duration":         {"format", "must be a duration, such as 30s"},
	"email":            {"format", "must be an email address"},
	"hostname":         {"format", "must be a host name, such as example.com"},
	"ipv4":             {"format", "must be an IPv4 address"},
	"ipv6":             {"format", "must be an IPv6 address"},
	"ip":               {"format", "must be an IP address"},
	"uri":              {"format", "must be a URL, such as https://example.com/path"},
	"uri-template":     {"format", "must be a URL template"},
	"uuid":             {"format", "must be a UUID"},
	"json-pointer":     {"format", "must be a JSON pointer"},
	"regex":            {"format", "must be a regular expression"},
	"base64":           {"format", "must be base64"},
	"anyOf":            {"", "must match one of the allowed forms"},
	"oneOf":            {"", "must match exactly one of the allowed forms"},
	"not":              {"", "has a form that is not allowed"},
	"discriminator":    {"", "must have a valid discriminator"},
	"boolean":          {"type", "must be true or false"},
	"number":           {"type", "must be a number"},
	"integer":          {"type", "must be an integer, without quotes, decimal point or exponent"},
	"string":           {"type", "must be a string"},
	"array":            {"type", "must be a list"},
	"object":           {"type", "must be an object"},
	"uniqueItems":      {"uniqueItems", "must not contain duplicates"},
	"enum":             {"enum", "must be one of %s"},
	"minimum":          {"minimum", "must be %s or more"},
	"exclusiveMinimum": {"exclusiveMinimum", "must be more than %s"},
	"maximum":          {"maximum", "must be %s or less"},
	"exclusiveMaximum": {"exclusiveMaximum", "must be less than %s"},
	"multipleOf":       {"multipleOf", "must be a multiple of %s"},
	"minLength":        {"minLength", "must have at least %s characters"},
	"maxLength":        {"maxLength", "must have at most %s characters"},
	"pattern":          {"pattern", "must match the pattern %s"},
	"described":        {"", "must be %s"},
	"minItems":         {"minItems", "must have at least %s items"},
	"maxItems":         {"maxItems", "must have at most %s items"},
	"minProperties":    {"minProperties", "must have at least %s properties"},
	"maxProperties":    {"maxProperties", "must have at most %s properties"},
}

// separator separates the parts of a finding. The validator reports texts only, so its
// messages are replaced by encoded findings, which explain decodes.
const separator = "\x1f"

func init() {
	for text, finding := range map[*string]string{
		&validation.MsgUnexpectedProperty:                 "unexpected",
		&validation.MsgExpectedRFC3339DateTime:            "date-time",
		&validation.MsgExpectedRFC1123DateTime:            "date-time-http",
		&validation.MsgExpectedRFC3339Date:                "date",
		&validation.MsgExpectedRFC3339Time:                "time",
		&validation.MsgExpectedRFC5322Email:               "email" + separator + "%v",
		&validation.MsgExpectedRFC5890Hostname:            "hostname",
		&validation.MsgExpectedRFC2673IPv4:                "ipv4",
		&validation.MsgExpectedRFC2373IPv6:                "ipv6",
		&validation.MsgExpectedRFCIPAddr:                  "ip",
		&validation.MsgExpectedRFC3986URI:                 "uri" + separator + "%v",
		&validation.MsgExpectedRFC4122UUID:                "uuid" + separator + "%v",
		&validation.MsgExpectedRFC6570URITemplate:         "uri-template",
		&validation.MsgExpectedRFC6901JSONPointer:         "json-pointer",
		&validation.MsgExpectedRFC6901RelativeJSONPointer: "json-pointer",
		&validation.MsgExpectedRegexp:                     "regex" + separator + "%v",
		&validation.MsgExpectedMatchAtLeastOneSchema:      "anyOf",
		&validation.MsgExpectedMatchExactlyOneSchema:      "oneOf",
		&validation.MsgExpectedNotMatchSchema:             "not",
		&validation.MsgExpectedPropertyNameInObject:       "discriminator",
		&validation.MsgExpectedBoolean:                    "boolean",
		&validation.MsgExpectedDuration:                   "duration" + separator + "%v",
		&validation.MsgExpectedNumber:                     "number",
		&validation.MsgExpectedInteger:                    "integer",
		&validation.MsgExpectedString:                     "string",
		&validation.MsgExpectedBase64String:               "base64",
		&validation.MsgExpectedArray:                      "array",
		&validation.MsgExpectedObject:                     "object",
		&validation.MsgExpectedArrayItemsUnique:           "uniqueItems",
		&validation.MsgExpectedOneOf:                      "enum" + separator + "%s",
		&validation.MsgExpectedMinimumNumber:              "minimum" + separator + "%v",
		&validation.MsgExpectedExclusiveMinimumNumber:     "exclusiveMinimum" + separator + "%v",
		&validation.MsgExpectedMaximumNumber:              "maximum" + separator + "%v",
		&validation.MsgExpectedExclusiveMaximumNumber:     "exclusiveMaximum" + separator + "%v",
		&validation.MsgExpectedNumberBeMultipleOf:         "multipleOf" + separator + "%v",
		&validation.MsgExpectedMinLength:                  "minLength" + separator + "%d",
		&validation.MsgExpectedMaxLength:                  "maxLength" + separator + "%d",
		&validation.MsgExpectedBePattern:                  "described" + separator + "%s",
		&validation.MsgExpectedMatchPattern:               "pattern" + separator + "%s",
		&validation.MsgExpectedMinItems:                   "minItems" + separator + "%d",
		&validation.MsgExpectedMaxItems:                   "maxItems" + separator + "%d",
		&validation.MsgExpectedMinProperties:              "minProperties" + separator + "%d",
		&validation.MsgExpectedMaxProperties:              "maxProperties" + separator + "%d",
		&validation.MsgExpectedRequiredProperty:           "required" + separator + "%s",
		&validation.MsgExpectedDependentRequiredProperty:  "dependent" + separator + "%s" + separator + "%s",
	} {
		*text = separator + finding
	}
}

// explain decodes a finding: the field name if the finding contains it, the message for
// the caller, and the constraint.
func explain(finding string) (field, text string, constraint map[string]any) {
	encoded, ok := strings.CutPrefix(finding, separator)
	if !ok {
		return "", translateMessage(finding), nil
	}
	parts := strings.Split(encoded, separator)
	name, values := parts[0], parts[1:]
	if name == "mistyped" { // found by the second decoding
		return values[0], rules[values[1]].text, map[string]any{"type": values[1]}
	}
	if name == "invalid" { // also found by the second decoding
		return values[0], values[1], nil
	}
	r, ok := rules[name]
	if !ok {
		return "", "is not valid", nil
	}
	switch name {
	case "required":
		return values[0], r.text, nil
	case "dependent":
		return values[0], r.message(values[1]), nil
	}
	switch r.keyword {
	case "type", "format":
		return "", r.text, map[string]any{r.keyword: name}
	case "enum":
		return "", r.message(values[0]), map[string]any{"enum": strings.Split(values[0], ", ")}
	case "":
		if len(values) == 0 {
			return "", r.text, nil
		}
		return "", r.message(values[0]), nil
	}
	if len(values) == 0 {
		return "", r.text, map[string]any{r.keyword: true}
	}
	var value any = values[0]
	text = values[0]
	if name == "minLength" && text == "1" {
		return "", "must not be empty", map[string]any{"minLength": rawNumber(text)}
	}
	if number, err := strconv.ParseFloat(values[0], 64); err == nil && r.keyword != "pattern" {
		text = strconv.FormatFloat(number, 'f', -1, 64) // without an exponent
		value = rawNumber(text)
	}
	return "", r.message(text), map[string]any{r.keyword: value}
}

// rawNumber is an encoded JSON number.
type rawNumber string

// MarshalJSON returns the digits unchanged.
func (n rawNumber) MarshalJSON() ([]byte, error) { return []byte(n), nil }

// translateMessage translates the fixed messages of huma about parameters.
func translateMessage(finding string) string {
	switch {
	case strings.HasPrefix(finding, "required "):
		return "is required"
	case finding == "invalid integer":
		return rules["integer"].text
	case finding == "invalid boolean":
		return rules["boolean"].text
	case finding == "invalid float", finding == "invalid floating value":
		return rules["number"].text
	case strings.HasPrefix(finding, "invalid date/time"):
		return rules["date-time"].text
	case strings.HasPrefix(finding, "cannot read multipart form"):
		return "is not a multipart form; send it with Content-Type: multipart/form-data and a boundary"
	}
	return strings.TrimPrefix(finding, "invalid value: ")
}
