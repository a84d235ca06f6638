package migrations

var (
	UpFrom = up
	HashOf = hash
)

var Files = files
