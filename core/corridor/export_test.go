package corridor

var (
	// ParseInstitutions reads a file in the format of institutions.txt.
	ParseInstitutions = parseInstitutions
	// InstitutionsText is the content of institutions.txt.
	InstitutionsText = institutionsText
)
