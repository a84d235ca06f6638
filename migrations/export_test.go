package migrations

var (
	UpFrom = up
	HashOf = hash
	Files  = files
)
