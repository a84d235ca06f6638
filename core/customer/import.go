package customer

import (
	"fmt"
	"strings"
	"time"
	"unicode"

	"causeway/core/event"
	"causeway/core/fault"
	"causeway/core/ident"
)

// Import is the creation of customers from a CSV file.
type Import struct {
	ID       ident.CustomerImport
	Platform ident.Platform
	Status   ImportStatus
	// Columns are the names in the first row of the file.
	Columns []string
	// Total, Successful and Failed count rows. Total is 0 while the file is uploaded, and if the
	// file is refused.
	Total, Successful, Failed int
	CreatedAt                 time.Time
	UpdatedAt                 time.Time
	CompletedAt               time.Time // zero until the import is completed or has failed
}

// ImportStatus is the status of an import.
type ImportStatus string

// The statuses of an import.
const (
	// ImportUploading: the file is being received. Nobody but the uploading process sees the import.
	ImportUploading ImportStatus = "UPLOADING"
	// ImportPending: the file is stored, and no row is imported.
	ImportPending    ImportStatus = "PENDING"
	ImportProcessing ImportStatus = "PROCESSING"
	// ImportCompleted: every row was imported or refused.
	ImportCompleted ImportStatus = "COMPLETED"
	// ImportFailed: the file was refused, and no row was imported.
	ImportFailed ImportStatus = "FAILED"
)

// importTransitions are the statuses that may follow a status.
var importTransitions = map[ImportStatus][]ImportStatus{
	ImportUploading:  {ImportPending},
	ImportPending:    {ImportProcessing, ImportCompleted, ImportFailed},
	ImportProcessing: {ImportProcessing, ImportCompleted},
}

// Ended reports whether the import is completed or has failed.
func (i Import) Ended() bool { return i.Status == ImportCompleted || i.Status == ImportFailed }

// Processed returns the number of rows that were imported or refused.
func (i Import) Processed() int { return i.Successful + i.Failed }

func (i Import) to(status ImportStatus, now time.Time) (Import, error) {
	for _, next := range importTransitions[i.Status] {
		if next == status {
			i.Status, i.UpdatedAt = status, now
			if i.Ended() {
				i.CompletedAt = now
			}
			return i, nil
		}
	}
	return i, fmt.Errorf("import %s cannot change from %s to %s", i.ID, i.Status, status)
}

// Uploaded returns the import after the upload of a file with so many rows; none if the file is
// refused.
func (i Import) Uploaded(rows int, now time.Time) (Import, error) {
	i.Total = rows
	return i.to(ImportPending, now)
}

// Proceed returns the import after so many more rows were imported and refused. Without rows in the
// file it has failed.
func (i Import) Proceed(successful, failed int, now time.Time) (Import, error) {
	i.Successful, i.Failed = i.Successful+successful, i.Failed+failed
	switch {
	case i.Processed() > i.Total, successful+failed == 0 && i.Total > 0:
		return i, fmt.Errorf("import %s has %d rows, but %d were processed, the last %d of them now", i.ID, i.Total,
			i.Processed(), successful+failed)
	case i.Total == 0:
		return i.to(ImportFailed, now)
	case i.Processed() == i.Total:
		return i.to(ImportCompleted, now)
	default:
		return i.to(ImportProcessing, now)
	}
}

// MaxImportErrors is how many errors of an import are kept. Further ones are only counted.
const MaxImportErrors = 1000

// ImportError says why a row, or the whole file, was refused.
type ImportError struct {
	// Row counts the rows below the header from 1; it is 0 for an error of the file.
	Row int
	// Line is the line of the file on which the row begins; 0 if unknown.
	Line int
	// PlatformCustomerID is that of the row, if it has a valid one.
	PlatformCustomerID string
	Code               fault.Code
	Message            string
	// Reason names the failed check; it may be empty.
	Reason string
	// Column is the column that an error of the file is about; it may be empty.
	Column string
	// Fields are the invalid values, by the name of their column.
	Fields []fault.Field
}

// maxCorrelationID is the longest platformCustomerId that identifies a row, in bytes.
const maxCorrelationID = 255

// CorrelationID returns what identifies the row: its platformCustomerId, or row_ and its number; or
// file.
func (e ImportError) CorrelationID() string {
	switch {
	case e.PlatformCustomerID != "":
		return e.PlatformCustomerID
	case e.Row > 0:
		return fmt.Sprintf("row_%d", e.Row)
	default:
		return "file"
	}
}

// The reasons of errors of a file.
const (
	ImportEmptyFile       = "empty_file"
	ImportNoRows          = "no_rows"
	ImportTooManyRows     = "too_many_rows"
	ImportInvalidEncoding = "invalid_encoding"
	ImportMalformedCSV    = "malformed_csv"
	ImportRowTooLong      = "row_too_long"
	ImportMissingColumn   = "missing_required_column"
	ImportDuplicateColumn = "duplicate_column"
)

// NewImportFileError returns an error of the file.
func NewImportFileError(reason, format string, args ...any) ImportError {
	return ImportError{Code: fault.InvalidRequestFormat, Reason: reason, Message: fmt.Sprintf(format, args...)}
}

// NewImportRowError returns the error of a row that was refused with a fault.
func NewImportRowError(row, line int, platformCustomerID string, refused *fault.Error) ImportError {
	if len(platformCustomerID) > maxCorrelationID || strings.ContainsFunc(platformCustomerID, unicode.IsControl) {
		platformCustomerID = ""
	}
	e := ImportError{Row: row, Line: line, PlatformCustomerID: platformCustomerID,
		Code: refused.Code, Message: refused.Message, Reason: refused.Reason, Fields: refused.Fields}
	if refused.Code == fault.InvalidInput {
		e.Message = "The row is not valid."
		if len(refused.Fields) == 1 {
			e.Message = fmt.Sprintf("%s: %s.", refused.Fields[0].Field, strings.TrimSuffix(refused.Fields[0].Message, "."))
		}
	}
	return e
}

// ImportWithErrors is an import with its kept errors, in the order of the rows.
type ImportWithErrors struct {
	Import
	Errors []ImportError
}

// Event returns the event that tells the platform that the import is completed or has failed.
func (i ImportWithErrors) Event(id ident.Webhook) event.Event {
	name := event.BulkUploadCompleted
	if i.Status == ImportFailed {
		name = event.BulkUploadFailed
	}
	return event.Event{ID: id, Platform: i.Platform, Type: event.BulkUpload, Name: name, Subject: i.ID.UUID(),
		OccurredAt: i.CompletedAt, Resource: i}
}
