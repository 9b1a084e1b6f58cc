"""What every table of ours has."""

from django.db import models


class Versioned(models.Model):
    """A row that forms and scripts edit: its version tells an outdated save from a fresh one."""

    version = models.PositiveIntegerField(default=1, editable=False)

    class Meta:
        abstract = True
