package customer

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"causeway/core/csvcell"
	"causeway/core/fault"
	"causeway/core/ident"
	"causeway/core/party"
	"causeway/core/platform"
)

// ImportColumn is a column of a file of customers.
type ImportColumn struct {
	Name string
	// Required columns must be in every file.
	Required bool
	// Ignored columns are known and have no place in a customer.
	Ignored bool
	Doc     string
}

// importFields are the fields of a request that columns of another name set.
var importFields = map[string]string{
	"addressLine1": "address.line1", "addressLine2": "address.line2", "city": "address.city", "state": "address.state",
	"postalCode": "address.postalCode", "country": "address.country",
	"businessLegalName": "businessInfo.legalName", "businessRegistrationNumber": "businessInfo.registrationNumber",
	"businessTaxId": "businessInfo.taxId",
}

// ImportColumns lists every column of a file of customers.
var ImportColumns = []ImportColumn{
	{Name: "umaAddress", Required: true, Doc: "UMA address."},
	{Name: "platformCustomerId", Required: true, Doc: "Your id for the customer."},
	{Name: "customerType", Required: true, Doc: "INDIVIDUAL or BUSINESS."},
	{Name: "fullName", Doc: "Full name. Required for an INDIVIDUAL."},
	{Name: "birthDate", Doc: "Date of birth, YYYY-MM-DD. Required for an INDIVIDUAL."},
	{Name: "nationality", Doc: "Nationality of an INDIVIDUAL. Optional."},
	{Name: "businessLegalName", Doc: "Legal name. Required for a BUSINESS."},
	{Name: "businessRegistrationNumber", Doc: "Registration number of a BUSINESS. Optional."},
	{Name: "businessTaxId", Doc: "Tax id of a BUSINESS. Optional."},
	{Name: "email", Doc: "Email address. Optional."},
	{Name: "phoneNumber", Doc: "Phone number with its country code, such as +447700900123. Optional."},
	{Name: "region", Doc: "Country whose verification rules apply. Optional."},
	{Name: "addressLine1", Required: true, Doc: "Street and number."},
	{Name: "addressLine2", Doc: "Apartment, suite, unit or building. Optional."},
	{Name: "city", Required: true, Doc: "City."},
	{Name: "state", Required: true, Doc: "State; empty where postal addresses have none."},
	{Name: "postalCode", Required: true, Doc: "Postal code."},
	{Name: "country", Required: true, Doc: "Country code, such as US."},
	{Name: "platformAccountId", Ignored: true, Doc: "Accepted, and ignored."},
	{Name: "description", Ignored: true, Doc: "Accepted, and ignored."},
}

// maxImportColumns bounds the columns of a file, with those that are ignored.
const maxImportColumns = 200

// ImportHeader is the header of a file: where its columns are.
type ImportHeader struct {
	count    int
	position map[string]int
	// Ignored are the columns whose values are not used.
	Ignored []string
}

// ParseImportHeader returns the header of a file, or every error in it. Names are compared without
// regard to case.
func ParseImportHeader(names []string) (ImportHeader, []ImportError) {
	h := ImportHeader{count: len(names), position: make(map[string]int, len(names))}
	if len(names) > maxImportColumns {
		return h, []ImportError{NewImportFileError(ImportMalformedCSV, "The header has %d columns. At most %d are possible.",
			len(names), maxImportColumns)}
	}
	var errors []ImportError
	refuse := func(reason, column, format string) {
		e := NewImportFileError(reason, format, column)
		e.Column = column
		errors = append(errors, e)
	}
	for i, name := range names {
		name = strings.TrimSpace(name)
		known := slices.IndexFunc(ImportColumns, func(c ImportColumn) bool { return strings.EqualFold(c.Name, name) })
		if known < 0 || ImportColumns[known].Ignored {
			if name != "" {
				h.Ignored = append(h.Ignored, name)
			}
			continue
		}
		name = ImportColumns[known].Name
		if _, twice := h.position[name]; twice {
			refuse(ImportDuplicateColumn, name, "The column %s is in the header twice.")
		}
		h.position[name] = i
	}
	for _, c := range ImportColumns {
		if _, found := h.position[c.Name]; !found && h.needs(c) {
			refuse(ImportMissingColumn, c.Name, "The column %s is missing in the header.")
		}
	}
	switch {
	case len(errors) == 0:
	case slices.ContainsFunc(names, func(name string) bool { return strings.Contains(name, "\r") }):
		errors = []ImportError{NewImportFileError(ImportMalformedCSV, "The lines end in a carriage return (CR) only. Save the file with the "+
			"line ends LF or CRLF.")}
	case len(names) == 1 && strings.ContainsAny(names[0], ";\t"):
		errors = []ImportError{NewImportFileError(ImportMalformedCSV, "The header is one column. Separate the columns by commas.")}
	}
	return h, errors
}

// needs reports whether the file must have a column. One without individuals needs no birthDate,
// and fullName or businessLegalName is in every file.
func (h ImportHeader) needs(c ImportColumn) bool {
	_, persons := h.position["fullName"]
	_, businesses := h.position["businessLegalName"]
	switch c.Name {
	case "fullName":
		return !persons && !businesses
	case "birthDate":
		return persons
	default:
		return c.Required
	}
}

// value returns the value of a row in a column, without spaces at its ends, and without the apostrophe
// that protects the readers of the file from a formula.
func (h ImportHeader) value(row []string, column string) string {
	i, found := h.position[column]
	if !found || i >= len(row) {
		return ""
	}
	return csvcell.Unescape(strings.TrimSpace(row[i]))
}

// PlatformCustomerID returns the value of its column; nothing for a row with another number of values,
// which may have a name or a birth date there.
func (h ImportHeader) PlatformCustomerID(row []string) string {
	if len(row) != h.count {
		return ""
	}
	return h.value(row, "platformCustomerId")
}

// Create returns the customer of a row, or INVALID_INPUT with every invalid value by the name of its
// column.
func (h ImportHeader) Create(row []string, owner platform.Platform, id ident.Customer, now time.Time) (Customer, error) {
	var bad party.Problems
	if len(row) != h.count {
		bad.Add("row", fmt.Sprintf("has %d values, but the header has %d columns", len(row), h.count))
		return Customer{}, bad.Err()
	}
	r := h.request(row)
	required := []string{"umaAddress", "platformCustomerId"}
	if r.Type == string(Individual) {
		required = append(required, "fullName", "birthDate")
	}
	for _, column := range required {
		if h.value(row, column) == "" {
			bad.Add(column, "is required")
		}
	}
	created, err := Create(r, owner, id, uuid.Max, now)
	if refused, ok := fault.As(err); ok {
		if len(refused.Fields) == 0 {
			return Customer{}, err
		}
		for _, f := range refused.Fields {
			bad.Fields = append(bad.Fields, fault.Field{Field: importColumn(f.Field), Message: f.Message, Constraint: f.Constraint})
		}
	} else if err != nil {
		return Customer{}, err
	}
	return created, bad.Err()
}

func (h ImportHeader) request(row []string) Request {
	value := func(column string) string { return h.value(row, column) }
	r := Request{
		PlatformCustomerID: value("platformCustomerId"), Type: value("customerType"), Region: value("region"), Email: value("email"),
		PhoneNumber: value("phoneNumber"),
		UMAAddress:  value("umaAddress"), FullName: value("fullName"), BirthDate: value("birthDate"), Nationality: value("nationality"),
		Address: &party.Address{Line1: value("addressLine1"), Line2: value("addressLine2"), City: value("city"), State: value("state"),
			PostalCode: value("postalCode"), Country: value("country")},
	}
	if r.Type == string(Business) {
		r.Business = &BusinessInfo{LegalName: value("businessLegalName"), RegistrationNumber: value("businessRegistrationNumber"),
			TaxID: value("businessTaxId")}
	}
	return r
}

// importColumn returns the column that sets a field of a request.
func importColumn(field string) string {
	for column, path := range importFields {
		if path == field {
			return column
		}
	}
	return field
}
