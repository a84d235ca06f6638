package migrations

var (
	UpFrom = up
	HashOf = hash
	Files  = files
)

var Files = files
