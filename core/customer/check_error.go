package customer

// CheckError is something that is missing or wrong in the data or documents of a customer or a
// beneficial owner, and keeps a verification from succeeding.
type CheckError struct {
	// Resource is the id of the customer, beneficial owner or document.
	Resource string
	Type     CheckErrorType
	// Field is the dotted path of the field, for MissingField and InvalidField.
	Field string
	// AcceptedDocuments are the types of documents of which one is needed.
	AcceptedDocuments []string
	// Reason says what is wrong and what to do.
	Reason string
}

// CheckErrorType is the type of a CheckError.
type CheckErrorType string

// The types.
const (
	MissingField                      CheckErrorType = "MISSING_FIELD"
	InvalidField                      CheckErrorType = "INVALID_FIELD"
	MissingLegalPresenceDocument      CheckErrorType = "MISSING_LEGAL_PRESENCE_DOCUMENT"
	MissingControlStructureDocument   CheckErrorType = "MISSING_CONTROL_STRUCTURE_DOCUMENT"
	MissingOwnershipStructureDocument CheckErrorType = "MISSING_OWNERSHIP_STRUCTURE_DOCUMENT"
	MissingProofOfAddressDocument     CheckErrorType = "MISSING_PROOF_OF_ADDRESS_DOCUMENT"
	MissingIdentityDocument           CheckErrorType = "MISSING_IDENTITY_DOCUMENT"
	InvalidDocument                   CheckErrorType = "INVALID_DOCUMENT"
	ExpiredDocument                   CheckErrorType = "EXPIRED_DOCUMENT"
	PoorQualityDocument               CheckErrorType = "POOR_QUALITY_DOCUMENT"
	SuspectedFraudDocument            CheckErrorType = "SUSPECTED_FRAUD_DOCUMENT"
	WrongDocumentType                 CheckErrorType = "WRONG_DOCUMENT_TYPE"
	IncompleteDocument                CheckErrorType = "INCOMPLETE_DOCUMENT"
	UnreadableDocument                CheckErrorType = "UNREADABLE_DOCUMENT"
	DocumentVerificationFailed        CheckErrorType = "DOCUMENT_VERIFICATION_FAILED"
	ApplicantSanctioned               CheckErrorType = "APPLICANT_SANCTIONED"
	ApplicantFraud                    CheckErrorType = "APPLICANT_FRAUD"
	ApplicantCriminalRecord           CheckErrorType = "APPLICANT_CRIMINAL_RECORD"
	ApplicantRejected                 CheckErrorType = "APPLICANT_REJECTED"
	MissingBeneficialOwner            CheckErrorType = "MISSING_BENEFICIAL_OWNER"
	MissingControlPerson              CheckErrorType = "MISSING_CONTROL_PERSON"
	MissingGoodStandingDocument       CheckErrorType = "MISSING_GOOD_STANDING_DOCUMENT"
)

// CheckErrorTypes lists every type.
var CheckErrorTypes = []CheckErrorType{
	MissingField, InvalidField, MissingLegalPresenceDocument, MissingControlStructureDocument, MissingOwnershipStructureDocument,
	MissingProofOfAddressDocument, MissingIdentityDocument, InvalidDocument, ExpiredDocument, PoorQualityDocument,
	SuspectedFraudDocument, WrongDocumentType, IncompleteDocument, UnreadableDocument, DocumentVerificationFailed,
	ApplicantSanctioned, ApplicantFraud, ApplicantCriminalRecord, ApplicantRejected, MissingBeneficialOwner,
	MissingControlPerson, MissingGoodStandingDocument,
}
